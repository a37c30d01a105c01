// What is served or printed as it is goes beside what was compiled: `node build/copy-static.mjs [dist]`.
import { cpSync } from 'node:fs';

const [target = 'dist'] = process.argv.slice(2);
for (const folder of ['src/inspect/page/static', 'src/cli/static']) {
  cpSync(folder, `${target}/${folder}`, { recursive: true });
}
