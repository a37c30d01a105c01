// Every MCP request: its kind and its replay policy. By hand, after the design ("Replay policy") and, for the
// annotations of tools, the MCP specification ("Tool annotations": hints, not to be believed of just any server). That
// none is left out: specified-operations.test.ts.
import { describe, expect, it } from 'vitest';
import type { OperationKind, ReplayPolicy } from '../../machines/vocabulary.ts';
import {
  OPERATIONS,
  operationOf,
  type PolicyFacts,
  policyOf,
  type ReplayOptions,
  ToolAnnotationsSeen,
} from '../../src/operations.ts';

const TABLE: Record<string, [OperationKind, ReplayPolicy]> = {
  ping: ['liveness', 'safe'],
  'server/discover': ['liveness', 'safe'], // revision 2026-07-28, in place of `ping`
  'tools/list': ['discovery', 'safe'],
  'prompts/list': ['discovery', 'safe'],
  'resources/list': ['discovery', 'safe'],
  'resources/templates/list': ['discovery', 'safe'],
  'tools/call': ['tool', 'if-unsent'],
  'prompts/get': ['prompt', 'safe'],
  'resources/read': ['resource', 'safe'],
  'completion/complete': ['completion', 'safe'],
  'logging/setLevel': ['logging', 'safe'],
  'resources/subscribe': ['subscription', 'safe'],
  'resources/unsubscribe': ['subscription', 'safe'],
  'tasks/get': ['task', 'safe'],
  'tasks/result': ['task', 'safe'],
  'tasks/list': ['task', 'safe'],
  'tasks/cancel': ['task', 'safe'],
};

const NO_TASK: PolicyFacts = { createsTask: false };

describe('every method', () => {
  it.each(Object.entries(TABLE))('%s', (method, [kind, policy]) => {
    expect(operationOf(method)).toEqual({ method, kind, policy });
    expect(policyOf(operationOf(method), NO_TASK, {}, undefined)).toBe(policy);
  });

  it('of this table is named once in the source, by the name that a client gives to it', () => {
    expect(
      Object.fromEntries(Object.entries(OPERATIONS).map(([name, { method }]) => [name, method])),
    ).toEqual({
      ping: 'ping',
      discover: 'server/discover',
      listTools: 'tools/list',
      listPrompts: 'prompts/list',
      listResources: 'resources/list',
      listResourceTemplates: 'resources/templates/list',
      callTool: 'tools/call',
      getPrompt: 'prompts/get',
      readResource: 'resources/read',
      complete: 'completion/complete',
      setLoggingLevel: 'logging/setLevel',
      subscribeResource: 'resources/subscribe',
      unsubscribeResource: 'resources/unsubscribe',
      getTask: 'tasks/get',
      getTaskResult: 'tasks/result',
      listTasks: 'tasks/list',
      cancelTask: 'tasks/cancel',
    });
  });

  it.each(['initialize', 'tools/delete', 'acme/launch', '', 'toString'])(
    '%j is not known, so it may have any effect',
    (method) => {
      expect(operationOf(method)).toEqual({ method, kind: 'other', policy: 'if-unsent' });
    },
  );
});

const CALL = operationOf('tools/call');
const policyOfTool = (replay: ReplayOptions, harmless?: ReadonlySet<string>, createsTask = false) =>
  policyOf(CALL, { tool: 'search', createsTask }, replay, harmless);

describe('a tool, by what the host declares', () => {
  it.each(['safe', 'if-unsent', 'never'] as const)('%s', (policy) => {
    expect(policyOfTool({ tools: { search: policy } })).toBe(policy);
  });

  it('counts for that tool alone', () => {
    const replay: ReplayOptions = { tools: { search: 'safe' } };
    const other = { tool: 'delete', createsTask: false };
    expect(policyOf(CALL, other, replay, undefined)).toBe('if-unsent');
    const nameless = policyOf(CALL, NO_TASK, { tools: { undefined: 'safe' } }, undefined);
    expect(nameless, 'no name is no name').toBe('if-unsent');
    for (const policy of ['safe', 'never'] as const) {
      const prompt = policyOf(
        operationOf('prompts/get'),
        { tool: 'search', createsTask: false },
        { tools: { search: policy } },
        undefined,
      );
      expect(prompt, 'a prompt of the same name').toBe('safe');
    }
  });

  it.each(['toString', 'constructor', '__proto__'])('says nothing of %s, which every object has', (tool) => {
    expect(policyOf(CALL, { tool, createsTask: false }, { tools: {} }, undefined)).toBe('if-unsent');
  });

  it('is stronger than the server’s word', () => {
    const harmless = new Set(['search']);
    for (const policy of ['never', 'if-unsent'] as const) {
      expect(policyOfTool({ tools: { search: policy }, trustAnnotations: true }, harmless)).toBe(policy);
    }
  });
});

describe('a tool, by what the server says', () => {
  const harmless = new Set(['search']);
  it.each<[boolean | undefined, ReadonlySet<string> | undefined, ReplayPolicy]>([
    [true, harmless, 'safe'],
    [false, harmless, 'if-unsent'],
    [undefined, harmless, 'if-unsent'],
    [true, new Set(['other']), 'if-unsent'],
    [true, undefined, 'if-unsent'], // no list went by yet
  ])('trusted: %s, harmless: %o → %s', (trustAnnotations, said, policy) => {
    expect(policyOfTool({ trustAnnotations }, said)).toBe(policy);
  });
});

describe('a request that creates a task: its lost answer would lose the task’s id', () => {
  it.each<[ReplayPolicy, ReplayPolicy]>([
    ['safe', 'if-unsent'],
    ['if-unsent', 'if-unsent'],
    ['never', 'never'],
  ])('%s becomes %s', (declared, policy) => {
    expect(policyOfTool({ tools: { search: declared } }, undefined, true)).toBe(policy);
  });

  it('is not safe of any kind', () => {
    for (const method of Object.keys(TABLE)) {
      expect(policyOf(operationOf(method), { createsTask: true }, {}, undefined), method).toBe('if-unsent');
    }
  });
});

/** readOnlyHint, idempotentHint, destructiveHint: is the tool harmless to call twice? */
const ANNOTATIONS: [readOnly: unknown, idempotent: unknown, destructive: unknown, harmless: boolean][] = [
  [true, undefined, undefined, true],
  [true, undefined, false, true],
  [true, undefined, true, false], // a contradiction
  [true, true, undefined, true],
  [true, false, undefined, true],
  [true, false, false, true],
  [true, true, true, false], // the same contradiction
  [undefined, true, undefined, true],
  [undefined, true, true, true], // to delete twice is to delete once
  [undefined, true, false, true],
  [false, true, undefined, true],
  [false, true, true, true],
  [undefined, undefined, undefined, false],
  [undefined, undefined, false, false], // an addition: twice is twice
  [undefined, false, undefined, false],
  [false, false, false, false],
  [false, undefined, true, false],
  ['true', undefined, undefined, false], // not a word of the specification
  [undefined, 1, undefined, false],
];

describe('annotations', () => {
  it.each(ANNOTATIONS)(
    'readOnly %s, idempotent %s, destructive %s → harmless %s',
    (readOnlyHint, idempotentHint, destructiveHint, harmless) => {
      const seen = new ToolAnnotationsSeen();
      seen.note({
        tools: [{ name: 'search', annotations: { readOnlyHint, idempotentHint, destructiveHint } }],
      });
      expect([...seen.harmless]).toEqual(harmless ? ['search'] : []);
    },
  );

  it('are of each tool by itself; without any, it is not harmless', () => {
    const seen = new ToolAnnotationsSeen();
    seen.note({
      tools: [
        { name: 'read', annotations: { readOnlyHint: true } },
        { name: 'write' },
        { name: 'list', annotations: { readOnlyHint: true } },
      ],
    });
    expect([...seen.harmless].sort()).toEqual(['list', 'read']);
  });

  it('are taken back by a later list, and kept for what another page does not name', () => {
    const seen = new ToolAnnotationsSeen();
    const page = (name: string, readOnlyHint: boolean) => ({
      tools: [{ name, annotations: { readOnlyHint } }],
    });
    seen.note(page('read', true));
    seen.note(page('list', true));
    expect([...seen.harmless].sort()).toEqual(['list', 'read']);
    seen.note(page('read', false));
    expect([...seen.harmless]).toEqual(['list']);
  });
});

it('a call whose server has asked for input is never begun anew, whatever the host declares', () => {
  const facts = { tool: 'search', createsTask: false, askedForInput: true };
  for (const method of [...Object.keys(TABLE), 'no/such']) {
    expect(policyOf(operationOf(method), facts, { tools: { search: 'safe' } }, new Set(['search']))).toBe(
      'never',
    );
  }
});
