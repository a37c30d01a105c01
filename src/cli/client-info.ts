/** Who the command line is, towards the servers. */
export const CLIENT_INFO = { name: 'mcp-steward', version: '0.1.0' };
