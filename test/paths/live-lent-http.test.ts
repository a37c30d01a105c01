import { walkEveryRoute } from './live-routes.ts';

walkEveryRoute('lent-http', ['caller-client', 'caller-session'], 'http');
