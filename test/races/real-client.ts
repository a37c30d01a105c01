import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';

export const CLIENT_INFO = { name: 'host', version: '1.0.0' };

/** One for all clients: making it takes as long as a race. */
const jsonSchemaValidator = new AjvJsonSchemaValidator();

export function realClient(): Client {
  return new Client(CLIENT_INFO, { jsonSchemaValidator });
}
