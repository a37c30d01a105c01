import { walkEveryRoute } from './live-routes.ts';

walkEveryRoute('own-stdio-2', ['supervisor'], 'stdio', [2, 3]);
