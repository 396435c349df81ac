import { detectAll } from 'tinyld';
import type { LanguageGuess, WorkerTasks } from '../../core/contract/plugin/services/worker-tasks.ts';

const guessesMax = 5;

/**
 * Returns the most likely languages of a text as ISO 639-1 codes with their shares, the best first. The first call of a thread loads
 * 70 MB of profiles in 130 ms, so the task never runs inline.
 */
export default function detectLanguage({ text }: WorkerTasks['detect-language']['input']): readonly LanguageGuess[] {
  return detectAll(text)
    .slice(0, guessesMax)
    .map(({ lang, accuracy }) => ({ language: lang, share: accuracy }));
}
