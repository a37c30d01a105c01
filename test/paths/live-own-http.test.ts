import { walkEveryRoute } from './live-routes.ts';

walkEveryRoute('own-http', ['supervisor'], 'http');
