/**
 * Measures what policies add to a request: the pipeline with all built-in plugins and a scripted provider, without sockets, for a
 * workspace without policies, with 10,000 that do not match, with 10,000 of which two match, and with the same two limits of a key. Rounds alternate. Prints the median CPU
 * time of a request, and the time to validate and compile the document.
 *
 *     node bench/policies.ts [--policies 10000] [--requests 2000] [--rounds 15]
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import * as v from 'valibot';
import { workspacePoliciesDocument } from '../core/contract/protocol/limits/policies.ts';
import { realClock } from '../core/contract/values/time/clock.ts';
import { startLeases } from '../core/leases/start-leases.ts';
import { createHarness, organisationId, workspaceId } from '../core/test-kit/pipeline-harness.ts';
import { WorkspacePolicies } from '../plugins/limits/policies.ts';
import { firstHolder, newFakeLedger } from '../test/support/fakes/fake-ledger.ts';
import { newMemoryLog } from '../test/support/fakes/memory-log.ts';

const { values } = parseArgs({
  options: {
    policies: { type: 'string', default: '10000' },
    requests: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '15' },
  },
});
const body = { model: 'gpt-5', max_tokens: 10, messages: [{ role: 'user', content: 'hi!' }] };
const headers = { 'x-svc-provider': '@one', 'x-svc-metadata': '{"_user":"user-1","team":"team-1"}' };

const never = { alertThreshold: null, periodicReset: null, periodicResetDays: null, nextUsageResetAt: null };

/** A document with this many policies: half per user, half per team and model. `first` numbers the first user and team. */
function documentOf(count: number, first: number) {
  const half = Math.floor(count / 2);
  return {
    id: workspaceId,
    organisationId,
    usage: Array.from({ length: half }, (_, n) => ({
      id: randomUUID(),
      conditions: [
        { key: 'provider', value: 'openai' },
        { key: 'metadata._user', value: `user-${first + n}` },
      ],
      groupBy: ['metadata._user'],
      type: 'tokens' as const,
      creditLimit: 1e12,
      ...never,
    })),
    rate: Array.from({ length: count - half }, (_, n) => ({
      id: randomUUID(),
      conditions: [
        { key: 'model', value: '@openai/*' },
        { key: 'metadata.team', value: [`team-${first + n}`] },
      ],
      groupBy: ['api_key', 'model'],
      type: 'requests' as const,
      unit: 'rpd' as const,
      value: 1e12,
    })),
  };
}

/** Limits of the key that correspond to two policies. */
const keyLimits = {
  usageLimits: { id: randomUUID(), type: 'tokens' as const, creditLimit: 1e12, ...never },
  rateLimits: [{ type: 'requests' as const, unit: 'rpd' as const, value: 1e12 }],
};

/** Leases of a holder on a ledger of its own. */
function newLeases() {
  return startLeases({
    fetch: newFakeLedger().fetch,
    clock: realClock,
    log: newMemoryLog(),
    newId: randomUUID,
    ...firstHolder,
  });
}

function start(document: ReturnType<typeof documentOf> | null, key = {}) {
  const harness = createHarness({ leases: newLeases(), key });
  const workspace = `workspace ${workspaceId}`;
  if (document) {
    harness.documents.set(workspace, { ...(harness.documents.get(workspace) as object), hasPolicies: true });
    harness.documents.set(`workspace-policies ${workspaceId}`, document);
  }
  return async (requests: number): Promise<number> => {
    const before = process.cpuUsage();
    for (let n = 0; n < requests; n++) {
      const sent = { method: 'POST', path: '/v1/chat/completions', headers: { 'x-svc-api-key': harness.key, ...headers }, body };
      const { status } = await harness.send(sent);
      if (status !== 200) throw new Error(`a request was rejected with ${status}`);
    }
    const { user, system } = process.cpuUsage(before);
    // The harness stores everything it saw.
    harness.calls.length = 0;
    harness.records.length = 0;
    harness.holds.length = 0;
    return (user + system) / requests;
  };
}

const count = Number(values.policies);
const scenarios = [
  ['no policies', start(null)],
  [`${count} policies, none matches`, start(documentOf(count, 1_000_000))],
  [`${count} policies, two match`, start(documentOf(count, 1))],
  ['two limits of the key', start(null, keyLimits)],
] as const;
const times = scenarios.map((): number[] => []);
for (let round = -2; round < Number(values.rounds); round++) {
  for (const [at, [, run]] of scenarios.entries()) {
    const microseconds = await run(Number(values.requests));
    // The first rounds warm up.
    if (round >= 0) times[at]?.push(microseconds);
  }
}
const median = (list: readonly number[]): number => [...list].sort((one, other) => one - other)[Math.floor(list.length / 2)] ?? 0;
const base = median(times[0] ?? []);
for (const [at, [name]] of scenarios.entries()) {
  const own = median(times[at] ?? []);
  process.stdout.write(`${name.padEnd(34)} ${own.toFixed(1).padStart(8)} µs of CPU per request  ${(own / base).toFixed(3)}\n`);
}

const text = JSON.stringify(documentOf(count, 1));
const leases = newLeases();
const steps = { parse: [] as number[], validate: [] as number[], compile: [] as number[] };
for (let round = 0; round < 10; round++) {
  const marks = [performance.now()];
  const parsed: unknown = JSON.parse(text);
  marks.push(performance.now());
  const document = v.parse(workspacePoliciesDocument, parsed);
  marks.push(performance.now());
  new WorkspacePolicies(leases, document, { modelHeaders: [], modelsInBody: () => [] });
  marks.push(performance.now());
  for (const [at, list] of Object.values(steps).entries()) list.push((marks[at + 1] ?? 0) - (marks[at] ?? 0));
}
process.stdout.write(`document of ${(text.length / 1e6).toFixed(1)} MB:`);
for (const [name, list] of Object.entries(steps)) process.stdout.write(`  ${name} ${median(list).toFixed(1)} ms`);
process.stdout.write('\n');
process.exit(0);
