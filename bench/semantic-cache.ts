/**
 * Precision and recall of the semantic cache on pairs of texts that differ in wording, or in one fact only.
 *
 *   node bench/semantic-cache.ts
 *   node bench/semantic-cache.ts --url https://api.openai.com/v1/embeddings --model text-embedding-3-small   (key in EMBEDDINGS_KEY)
 *
 * Without a URL the embeddings are those of the tests: a hash of words and their trigrams, which knows no synonyms.
 */
import { parseArgs } from 'node:util';
import { contentFacts } from '../plugins/cache/content-facts.ts';
import { embeddingOf } from '../test/support/fakes/fake-embeddings.ts';
import { type Pair, pairs } from './semantic-cache/pairs.ts';

const thresholds = [0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99];

interface Judged extends Pair {
  readonly score: number;
  /** True if the facts of both texts agree. */
  readonly agrees: boolean;
}

const { values } = parseArgs({
  options: { url: { type: 'string' }, model: { type: 'string', default: 'text-embedding-3-small' } },
});
const vectors = await embedAll([...new Set(pairs.flatMap(({ left, right }) => [left, right]))]);
const judged: Judged[] = pairs.map((pair) => ({
  ...pair,
  score: product(vectors.get(pair.left) ?? [], vectors.get(pair.right) ?? []),
  agrees: JSON.stringify(contentFacts(pair.left)) === JSON.stringify(contentFacts(pair.right)),
}));

const same = judged.filter(({ kind }) => kind === 'same');
console.log(
  `${pairs.length} pairs, ${same.length} of the same meaning; embeddings: ${values.url ? values.model : 'hashed words'}\n`,
);
console.log(
  '| threshold | precision | recall | wrong hits: number, negation, name | precision with the gate | recall | wrong hits |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const threshold of thresholds) {
  const open = rates(judged.filter(({ score }) => score >= threshold));
  const gated = rates(judged.filter(({ score, agrees }) => score >= threshold && agrees));
  console.log(`| ${threshold.toFixed(2)} | ${open.join(' | ')} | ${gated.join(' | ')} |`);
}
const refused = same.filter(({ agrees }) => !agrees);
const missed = judged.filter(({ kind, agrees }) => kind !== 'same' && agrees);
console.log(
  `\nThe gate separates ${judged.length - same.length - missed.length} of ${judged.length - same.length} pairs that differ in a fact.`,
);
for (const { left, right } of missed) console.log(`  not separated: ${left} / ${right}`);
console.log(`It separates ${refused.length} of ${same.length} pairs of the same meaning.`);
for (const { left, right } of refused) console.log(`  separated: ${left} / ${right}`);

/** Precision, recall and the wrong hits by kind, of these pairs as hits. */
function rates(hits: readonly Judged[]): string[] {
  const of = (kind: Pair['kind']) => hits.filter((hit) => hit.kind === kind).length;
  const right = of('same');
  const precision = hits.length === 0 ? '–' : (right / hits.length).toFixed(2);
  return [precision, (right / same.length).toFixed(2), `${of('number')}, ${of('negation')}, ${of('name')}`];
}

async function embedAll(texts: readonly string[]): Promise<Map<string, readonly number[]>> {
  if (!values.url) return new Map(texts.map((text) => [text, embeddingOf(text)]));
  const reply = await fetch(values.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.EMBEDDINGS_KEY ?? ''}` },
    body: JSON.stringify({ model: values.model, input: texts }),
  });
  if (!reply.ok) throw new Error(`${values.url} replied with status ${reply.status}`);
  const { data } = (await reply.json()) as { data: { index: number; embedding: number[] }[] };
  return new Map(data.map(({ index, embedding }) => [texts[index] as string, unit(embedding)]));
}

function unit(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

function product(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, value, i) => sum + value * (right[i] ?? 0), 0);
}
