// Some servers allow one session, and refuse whoever wants another while it lives.

/** Answers the request, and says so, if there is a session already. */
export function refusesSecond({ options, ledger }, sessions, res) {
  if (options.oneSession === undefined || sessions.size === 0) return false;
  ledger.write('refused', { status: options.oneSession });
  res.writeHead(options.oneSession, { 'content-type': 'text/plain' }).end('There is a session already');
  return true;
}
