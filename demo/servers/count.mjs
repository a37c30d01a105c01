// Preloaded into server-everything (`node --import`), whose own code stays as it is: writes down what its MCP
// layer receives and runs, in a file that survives SIGKILL; and keeps it on the loopback interface.
import { Server as NetServer } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { note } from './ledger.mjs';

note('process');

const connect = Protocol.prototype.connect;
Protocol.prototype.connect = async function (transport) {
  await connect.call(this, transport);
  const { onmessage } = transport;
  transport.onmessage = (message, extra) => {
    if (message.method === 'initialize') note('initialize');
    return onmessage(message, extra);
  };
};

const registerTool = McpServer.prototype.registerTool;
McpServer.prototype.registerTool = function (name, config, run) {
  return registerTool.call(this, name, config, (...args) => {
    note('execution', name);
    return run(...args);
  });
};

const listen = NetServer.prototype.listen;
NetServer.prototype.listen = function (port, ...rest) {
  const isPort = typeof port === 'number' || typeof port === 'string';
  return isPort ? listen.call(this, Number(port), '127.0.0.1', ...rest) : listen.call(this, port, ...rest);
};
