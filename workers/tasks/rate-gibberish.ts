import type { GibberishRating, WorkerTasks } from '../../core/contract/plugin/services/worker-tasks.ts';
import { seedText } from '../language/seed-text.ts';

/** Texts with fewer Latin letters are not rated. */
const lettersMin = 12;

const unseen = -7;

/** A space and 26 letters. */
const symbols = 27;

/** Logarithms of the probability that a letter follows two symbols, by their three numbers. Computed when the file is loaded. */
const model = learn(seedText);

/**
 * Returns how likely the sequences of letters of a text are in languages with Latin script: the mean natural logarithm per letter. About −2.5
 * for prose, and below −4.3 for random letters and runs of the keyboard. Null: too few Latin letters.
 */
export default function rateGibberish({ text }: WorkerTasks['rate-gibberish']['input']): GibberishRating {
  const letters = lettersOf(text);
  let count = 0;
  let sum = 0;
  let steps = 0;
  let before = 0;
  for (let i = 0; i < letters.length; i++) {
    const symbol = symbolAt(letters, i);
    if (symbol > 0) count++;
    if (symbol > 0 && i > 1) {
      sum += model[before * symbols + symbol] as number;
      steps++;
    }
    before = (before * symbols + symbol) % (symbols * symbols);
  }
  if (count < lettersMin || count / Math.max(1, lettersIn(text)) < 0.5) return { likelihood: null, repetition: 0 };
  return { likelihood: sum / Math.max(1, steps), repetition: repetitionOf(letters) };
}

/** Returns 0 for a space, and 1 to 26 for a letter. */
function symbolAt(letters: string, index: number): number {
  return Math.max(0, letters.charCodeAt(index) - 96);
}

/** Number of letters of all scripts. */
function lettersIn(text: string): number {
  const ascii = text.match(/[A-Za-z]+/g) ?? [];
  const others = text.match(/[^\P{L}A-Za-z]/gu) ?? [];
  return ascii.reduce((sum, { length }) => sum + length, others.length);
}

/** Small letters without accents, and single spaces. Code, numbers and signs become spaces. */
function lettersOf(text: string): string {
  const plain = text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ł', 'l')
    .replaceAll('ı', 'i');
  return ` ${plain.replace(/[^a-z]+/g, ' ').trim()} `;
}

/** Share of the most frequent word and of letters that repeat the one before, whichever is higher. */
function repetitionOf(letters: string): number {
  const words = letters.trim().split(' ');
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  const mostFrequent = words.length < 8 ? 0 : Math.max(...counts.values()) / words.length;
  let repeated = 0;
  for (let i = 1; i < letters.length; i++) if (letters.charCodeAt(i) === letters.charCodeAt(i - 1)) repeated++;
  return Math.max(mostFrequent, repeated / letters.length);
}

function learn(text: string): Float64Array {
  const letters = lettersOf(text);
  const counts = new Map<string, number>();
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (let i = 1; i < letters.length; i++) {
    add(letters.slice(i - 1, i));
    add(letters.slice(i - 1, i + 1));
    if (i > 1) add(letters.slice(i - 2, i + 1));
  }
  const logarithm = (key: string, count: number) => Math.log(count / (counts.get(key.slice(0, -1)) as number));
  const numberOf = (key: string) => [...key].reduce((number, _, i) => number * symbols + symbolAt(key, i), 0);
  const logarithms = new Float64Array(symbols ** 3).fill(unseen);
  for (const [key, count] of counts) {
    // Pairs that occur only in the shorter context cost more.
    if (key.length !== 2) continue;
    const likelihood = logarithm(key, count) - 1.2;
    for (let first = 0; first < symbols; first++) logarithms[first * symbols ** 2 + numberOf(key)] = likelihood;
  }
  for (const [key, count] of counts) if (key.length === 3) logarithms[numberOf(key)] = logarithm(key, count);
  return logarithms;
}
