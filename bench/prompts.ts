/**
 * Measures what a prompt of 20 messages with 5 partials costs: its rendering alone, and a prompt completion beside the plain call that sends
 * the same body, in the pipeline with all built-in plugins and a scripted provider, without sockets. Rounds alternate. Prints the median
 * CPU time.
 *
 *     node bench/prompts.ts [--requests 2000] [--rounds 15]
 */
import { parseArgs } from 'node:util';
import { openPrompt, renderPrompt } from '../core/prompts/render-prompt.ts';
import { createHarness, organisationId, workspaceId } from '../core/test-kit/pipeline-harness.ts';
import { samplePartial, samplePrompt } from '../test/support/samples/sample-prompts.ts';
import { median } from './report/statistics.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '2000' }, rounds: { type: 'string', default: '15' } },
});
const requests = Number(values.requests);

const partials = ['tone', 'rules', 'format', 'safety', 'closing'].map((name) =>
  samplePartial(`pl-${name}`, [`Rules of ${name} for {{user.name}}: be "clear" and short.{{#strict}}\nNever guess.{{/strict}}`]),
);
const contents = Array.from({ length: 20 }, (_, n) =>
  n < 5
    ? `{{>pl-${['tone', 'rules', 'format', 'safety', 'closing'][n]}}}`
    : `Turn ${n}: {{user.name}} asks about {{topic}}. {{question}}`,
);
const template = JSON.stringify(contents.map((content, n) => ({ role: n < 5 ? 'system' : 'user', content })));
const variables = { user: { name: 'Ann "A." Example' }, topic: 'prices', question: 'How much is it?\nAnd when?', strict: true };
const headers = { 'x-svc-provider': '@one' };

const harness = createHarness();
harness.documents.set(`prompt ${workspaceId}/pp-bench`, samplePrompt('pp-bench', [{ template }]));
for (const partial of partials) harness.documents.set(`prompt-partial ${workspaceId}/${partial.slug}`, partial);
const services = { documents: harness.services.documents, random: Math.random, bytesMax: 1_000_000 };
const caller = { organisationId, workspaceId };
const render = async () =>
  renderPrompt(services, caller, await openPrompt(services, caller, 'pp-bench'), { params: {}, variables, isStrict: false });
const rendered = (await render()).params;

async function call(path: string, body: object): Promise<void> {
  const { status } = await harness.send({ method: 'POST', path, headers, body: body as Record<string, unknown> });
  if (status !== 200) throw new Error(`a request was rejected with ${status}`);
}

const scenarios: readonly (readonly [name: string, run: () => Promise<unknown>])[] = [
  ['plain call with the rendered body', () => call('/v1/chat/completions', rendered)],
  ['prompt completion', () => call('/v1/prompts/pp-bench/completions', { variables })],
  ['rendering alone', render],
];
const times = scenarios.map((): number[] => []);
for (let round = -2; round < Number(values.rounds); round++) {
  for (const [at, [, run]] of scenarios.entries()) {
    const before = process.cpuUsage();
    for (let n = 0; n < requests; n++) await run();
    const { user, system } = process.cpuUsage(before);
    // The harness stores everything it saw.
    for (const list of [harness.calls, harness.records, harness.holds]) list.length = 0;
    // The first rounds warm up.
    if (round >= 0) times[at]?.push((user + system) / requests);
  }
}
const base = median(times[0] ?? []);
process.stdout.write(`${JSON.stringify(rendered).length} characters, ${contents.length} messages, ${partials.length} partials\n`);
for (const [at, [name]] of scenarios.entries()) {
  const own = median(times[at] ?? []);
  process.stdout.write(`${name.padEnd(34)} ${own.toFixed(1).padStart(8)} µs of CPU  ${(own / base).toFixed(3)}\n`);
}
process.exit(0);
