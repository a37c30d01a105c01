import { stripVTControlCharacters } from 'node:util';

/** What comes from a server or a file must not move the cursor, or colour what follows. Our own colours go too. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
  return stripVTControlCharacters(text).replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '');
}
