/** The package as it is published: what `npm run build` has written, with the types of its source. */
const entry = new URL('../dist/src/index.js', import.meta.url).href;

const built: typeof import('../src/index.ts') = await import(entry);

export const { createSupervisor } = built;
