/** Changes of the machines' configs that change nothing which can be seen, and why. */
export const CONFIG_SURVIVORS: readonly { readonly mutant: string; readonly reason: string }[] = [
  {
    mutant: 'connection.idle always 1: before the one before it',
    reason: 'A connection is either its caller’s or the supervisor’s: only one of the two guards can hold.',
  },
  {
    mutant: 'connection.ready on reconnect: to #connection.recreating.retiring',
    reason: 'Its attempts were just given back, so it waits for no delay.',
  },
  {
    mutant: 'connection.ready on reconnect: rememberLoss before the action before it',
    reason: 'Neither writes what the other does.',
  },
  {
    mutant: 'connection.ready.probing probe onDone 1: announceProbe before the action before it',
    reason: 'What is emitted names the generation only.',
  },
  {
    mutant: 'connection.ready.probing probe onDone 2: announceProbe before the action before it',
    reason: 'What is emitted names the generation only.',
  },
  {
    mutant: 'connection.ready.suspect on heard: announceMessage before the action before it',
    reason: 'What is emitted names the generation only.',
  },
  {
    mutant: 'connection.ready.probing probe onError: announceProbe before the action before it',
    reason: 'What is emitted names the generation only.',
  },
  {
    mutant: 'connection.lost always 1: before the one before it',
    reason: 'A caller-owned connection dials nothing, so its budget is never spent.',
  },
  {
    mutant: 'connection.lost on reconnect: to #connection.recreating.backingOff',
    reason: 'Its attempts were just given back, so it waits for no delay.',
  },
  {
    mutant: 'operation.sending entry: send before the action before it',
    reason: 'A send looks at nothing that is counted, and its end comes later.',
  },
];
