// Somebody who looks on at a page, in a process of its own: reads the stream of events, and forgets it.
const url = new URL(process.argv[2]);
url.pathname = '/events';
const { body } = await fetch(url);
let bytes = 0;
for await (const piece of body) {
  if (bytes === 0) process.send('reads');
  bytes += piece.length;
}
