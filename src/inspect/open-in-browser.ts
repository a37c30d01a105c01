import spawn from 'cross-spawn';

const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['cmd', '/c', 'start', ''],
};

/** Where there is no browser, nothing happens. */
export function openInBrowser(url: URL): void {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...args, url.href], { stdio: 'ignore', detached: true });
  child.once('error', () => {});
  child.unref();
}
