// What guards, actions and actors of the machines do that no table of transitions shows.
import { describe, expect, it } from 'vitest';
import { type AnyActorLogic, createActor } from 'xstate';
import { connectionMachine } from '../../machines/connection.machine.ts';
import { operationMachine } from '../../machines/operation.machine.ts';
import { ConnectionDriver, PERMANENT, RETRYABLE } from './connection-driver.ts';
import { LOST_UNKNOWN, LOST_UNRUN, OperationDriver } from './operation-driver.ts';

describe('what src/ does not provide throws, and says its name', () => {
  const { actors } = connectionMachine.implementations;
  it.each(Object.entries(actors))('the actor %s of the connection machine', (name, logic) => {
    const errors: unknown[] = [];
    const actor = createActor(logic as AnyActorLogic);
    actor.subscribe({ error: (error) => void errors.push(error) });
    actor.start();
    expect(errors).toEqual([new Error(`connection.machine: "${name}" must be provided`)]);
  });

  it('the action readTokens of the connection machine', () => {
    const action = connectionMachine.implementations.actions.readTokens as unknown as () => void;
    expect(action).toThrow('connection.machine: "readTokens" must be provided');
  });

  it.each(['demandConnection', 'awaitProof', 'send'] as const)(
    'the action %s of the operation machine',
    (name) => {
      const action = operationMachine.implementations.actions[name] as unknown as () => void;
      expect(action).toThrow(`operation.machine: the action "${name}" must be provided`);
    },
  );
});

describe('the trial after a cool-down is the last attempt of a budget, whatever was left of it', () => {
  const cooled = async () =>
    (await new ConnectionDriver({ maxAttempts: 3 }).openFailed(PERMANENT)).pass(10_000);

  it('so its failure is the end of it', async () => {
    const driver = (await cooled()).demand();
    expect(driver.opens.at(-1)?.input).toEqual({ generation: 1, attempt: 3 });
    await driver.openFailed(RETRYABLE);
    expect(driver.state).toBe('exhausted.cooling');
  });

  it('and its success has to prove stable before another is made', async () => {
    const driver = await (await cooled()).demand().opened();
    expect(driver.lose().demand().state).toBe('exhausted.cooling');
  });
});

describe('what is said of a suspicion, each with the generation that it is about', () => {
  const suspect = async () => (await new ConnectionDriver().opened()).suspect();

  it('a probe that begins, and is answered', async () => {
    const driver = await suspect();
    await driver.probed({ verdict: 'usable', cause: 'deaf' });
    expect(driver.emitted.slice(-2)).toEqual([
      { type: 'suspected', generation: 1, cause: 'deaf' },
      { type: 'probed', generation: 1, found: 'usable' },
    ]);
  });

  it('a probe that is not answered, and the message that clears it', async () => {
    const driver = await suspect();
    await driver.probed({ verdict: 'unanswered', cause: 'deaf' });
    driver.heard();
    expect(driver.emitted.slice(-2)).toEqual([
      { type: 'probed', generation: 1, found: 'suspect' },
      { type: 'cleared', generation: 1 },
    ]);
  });
});

it('a later send that did not run does not undo an earlier one that may have', () => {
  const driver = new OperationDriver({ policy: 'safe', sends: 1, evidence: LOST_UNKNOWN });
  driver.send({ type: 'usable' }).send({ type: 'failed', evidence: LOST_UNRUN });
  expect(driver.state).toBe('unknown-outcome');
  expect(driver.context.evidence).toEqual({ ...LOST_UNRUN, execution: 'unknown' });
});
