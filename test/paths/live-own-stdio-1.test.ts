import { walkEveryRoute } from './live-routes.ts';

walkEveryRoute('own-stdio-1', ['supervisor'], 'stdio', [1, 3]);
