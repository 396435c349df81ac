import type { GibberishRating, WorkerTasks } from '../../core/contract/plugin/services/worker-tasks.ts';
import { seedText } from '../language/seed-text.ts';

/** Texts with fewer Latin letters are not rated. */
const lettersMin = 12;

/** Logarithms of the probability that a letter follows two others. Computed when the file is loaded. */
const model = learn(seedText);

/**
 * Returns how likely the sequences of letters of a text are in languages with Latin script: the mean natural logarithm per letter. About −2.5
 * for prose, and below −4.3 for random letters and runs of the keyboard. Null: too few Latin letters.
 */
export default function rateGibberish({ text }: WorkerTasks['rate-gibberish']['input']): GibberishRating {
  const letters = lettersOf(text);
  const count = letters.replaceAll(' ', '').length;
  const latin = count / Math.max(1, [...text.matchAll(/\p{L}/gu)].length);
  if (count < lettersMin || latin < 0.5) return { likelihood: null, repetition: 0 };
  let sum = 0;
  let steps = 0;
  for (let i = 2; i < letters.length; i++) {
    if (letters[i] === ' ') continue;
    sum += model.get(letters.slice(i - 2, i + 1)) ?? model.get(letters.slice(i - 1, i + 1)) ?? unseen;
    steps++;
  }
  return { likelihood: sum / Math.max(1, steps), repetition: repetitionOf(letters) };
}

const unseen = -7;

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
  for (let i = 1; i < letters.length; i++) if (letters[i] === letters[i - 1]) repeated++;
  return Math.max(mostFrequent, repeated / letters.length);
}

function learn(text: string): Map<string, number> {
  const letters = lettersOf(text);
  const counts = new Map<string, number>();
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (let i = 1; i < letters.length; i++) {
    add(letters.slice(i - 1, i));
    add(letters.slice(i - 1, i + 1));
    if (i > 1) add(letters.slice(i - 2, i + 1));
  }
  const logarithms = new Map<string, number>();
  for (const [key, count] of counts) {
    // Pairs that occur only in the shorter context cost more.
    const penalty = key.length === 2 ? -1.2 : 0;
    if (key.length > 1) logarithms.set(key, Math.log(count / (counts.get(key.slice(0, -1)) as number)) + penalty);
  }
  return logarithms;
}
