import { walkEveryRoute } from './live-routes.ts';

walkEveryRoute('own-stdio-3', ['supervisor'], 'stdio', [3, 3]);
