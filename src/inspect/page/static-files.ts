/** The files of the page: those of the folder `static`, as they are, and four modules of lit-html. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const FOLDER = new URL('./static/', import.meta.url);

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** What `repeat.js` needs, by its own relative imports. */
const LIT = ['lit-html.js', 'directive.js', 'directive-helpers.js', 'directives/repeat.js'];

export interface StaticFile {
  readonly type: string;
  readonly body: Buffer;
  readonly zipped: Buffer;
}

export class StaticFiles {
  /** By path: what is not in it is not served, whatever the path looks like. */
  readonly #sources: ReadonlyMap<string, URL>;
  readonly #read = new Map<string, StaticFile>();

  constructor() {
    const own = readdirSync(FOLDER).filter((name) => extname(name) in TYPES);
    const lit = litFolder();
    this.#sources = new Map([
      ...own.map((name) => [`/${name}`, new URL(name, FOLDER)] as const),
      ...LIT.map((name) => [`/lit-html/${name}`, new URL(name, lit)] as const),
    ]);
  }

  has(path: string): boolean {
    return this.#sources.has(path);
  }

  get(path: string): StaticFile | undefined {
    const source = this.#sources.get(path);
    if (source === undefined) return undefined;
    const known = this.#read.get(path);
    if (known !== undefined) return known;
    const body = readFileSync(source);
    const file = { type: TYPES[extname(path)] as string, body, zipped: gzipSync(body) };
    this.#read.set(path, file);
    return file;
  }
}

/** The build for browsers, in production; Node itself is given another one. */
function litFolder(): string {
  const entry = pathToFileURL(createRequire(import.meta.url).resolve('lit-html')).href;
  const folder = '/lit-html/';
  return entry.slice(0, entry.lastIndexOf(folder) + folder.length);
}
