import { walkEveryRoute } from './live-routes.ts';

walkEveryRoute('lent-stdio', ['caller-client', 'caller-session'], 'stdio');
