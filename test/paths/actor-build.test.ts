import { expect, it } from 'vitest';
import { createActor, createMachine } from 'xstate';

it(`the actors run on XState's ${process.env.XSTATE_BUILD} build`, () => {
  const actor = createActor(createMachine({}));
  actor.subscribe({ error: () => {} });
  actor.start();
  // Only the build for development says what is wrong with this.
  const explains = /Only event objects may be sent/;
  const send = () => actor.send('not an event' as never);
  if (process.env.XSTATE_BUILD === 'development') expect(send).toThrow(explains);
  else expect(send).not.toThrow(explains);
});
