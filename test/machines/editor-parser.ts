/** The parser of Stately's editors. It takes the names of XState 4's actions from that package, which we do not have. */
import { createRequire, Module } from 'node:module';

interface ParsedMachine {
  toConfig(): unknown;
}

interface Parser {
  extractMachinesFromFile(source: string): { readonly machines: readonly ParsedMachine[] } | null;
}

type Resolve = (request: string, ...rest: unknown[]) => string;

const modules = Module as unknown as { _resolveFilename: Resolve };
const resolve = modules._resolveFilename;
modules._resolveFilename = (request, ...rest) =>
  resolve(request.replace(/^xstate\/lib\//, 'xstate-4/lib/'), ...rest);

export const parser = createRequire(import.meta.url)('@xstate/machine-extractor') as Parser;
