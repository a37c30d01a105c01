import { walkEveryRoute } from './live-routes.ts';

walkEveryRoute('own-stdio', ['supervisor'], 'stdio');
