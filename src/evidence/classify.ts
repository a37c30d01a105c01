/**
 * One classifier for every operation, transport and SDK version. The rules are tried in the order of the table;
 * the first that knows the failure decides. Measured: see docs/adr/0003-evidence.md.
 */
import type { Evidence } from '../../machines/vocabulary.ts';
import type { EvidenceRule, Failure } from './failure.ts';
import { httpEvidence, malformedEvidence } from './http.ts';
import { oauthEvidence } from './oauth.ts';
import {
  rpcEvidence,
  timeoutEvidence,
  unsupportedEvidence,
  unusableAnswerEvidence,
  versionEvidence,
} from './rpc.ts';
import { localEvidence, socketEvidence } from './socket.ts';
import { closedEvidence, notConnectedEvidence, unwrittenEvidence, writeCutEvidence } from './stdio.ts';

const observedEvidence: EvidenceRule = ({ observed }) => observed;

const abortedEvidence: EvidenceRule = ({ aborted }) =>
  aborted ? { connection: 'usable', execution: 'unknown', cause: 'aborted' } : undefined;

const RULES: readonly EvidenceRule[] = [
  abortedEvidence,
  observedEvidence,
  notConnectedEvidence,
  unsupportedEvidence,
  versionEvidence,
  unusableAnswerEvidence,
  unwrittenEvidence,
  writeCutEvidence,
  oauthEvidence,
  closedEvidence,
  timeoutEvidence,
  rpcEvidence,
  malformedEvidence,
  httpEvidence,
  socketEvidence,
  localEvidence,
];

const UNRECOGNISED: Evidence = { connection: 'suspect', execution: 'unknown', cause: 'unrecognised' };

/** What a failure proves about its connection and its operation. */
export function classify(failure: Failure): Evidence {
  let evidence: Evidence = UNRECOGNISED;
  for (const rule of RULES) {
    const found = rule(failure);
    if (found === undefined) continue;
    evidence = found;
    break;
  }
  return bounded(evidence, failure);
}

/** Proof holds for the last request of a call only, and only where nobody else can have been asked to run it. */
export function bounded(
  evidence: Evidence,
  { earlierLegMayHaveRun, reached }: Pick<Failure, 'earlierLegMayHaveRun' | 'reached'>,
): Evidence {
  const isProof = !earlierLegMayHaveRun && reached === 'endpoint';
  return evidence.execution === 'none' && !isProof ? { ...evidence, execution: 'unknown' } : evidence;
}
