import type { TaskName, WorkerTasks } from '../../core/contract/plugin/services/worker-tasks.ts';
import type { Task } from '../pool.ts';
import { taskFile } from '../task-file.ts';
import checkSchema, { schemaSizeOf } from './check-schema.ts';
import checkToolValue, { toolValueSizeOf } from './check-tool-value.ts';
import findPii from './find-pii.ts';
import findWords, { wordStepsOf } from './find-words.ts';
import matchPattern, { stepsOf } from './match-pattern.ts';
import normalize from './normalize.ts';
import rateGibberish from './rate-gibberish.ts';
import scanText from './scan-text.ts';
import scoreInjection from './score-injection.ts';
import searchPattern, { measurePattern } from './search-pattern.ts';

/**
 * Every task. `workers/README.md` has the measurements behind the sizes up to which a task runs inline. The tokenizer would cost the main
 * thread 60 MB and the profiles of languages 70 MB, so `count-tokens` and `detect-language` never run there. The patterns of secretlint are not
 * proven linear, so neither does `find-secrets`.
 */
export const tasks: { readonly [Name in TaskName]: Task<WorkerTasks[Name]['input'], WorkerTasks[Name]['output']> } = {
  'count-tokens': { file: taskFile('count-tokens') },
  'match-pattern': {
    file: taskFile('match-pattern'),
    inline: { sizeMax: 100_000, sizeOf: stepsOf, run: matchPattern },
  },
  'search-pattern': {
    file: taskFile('search-pattern'),
    inline: { sizeMax: 0, sizeOf: () => 0, run: searchPattern },
  },
  'measure-pattern': {
    file: taskFile('search-pattern'),
    inline: { sizeMax: 0, sizeOf: () => 0, run: measurePattern },
  },
  'check-schema': {
    file: taskFile('check-schema'),
    inline: { sizeMax: 8192, sizeOf: schemaSizeOf, run: checkSchema },
    // References of a short schema can take exponential time.
    isUnbounded: true,
  },
  'check-tool-value': {
    file: taskFile('check-tool-value'),
    inline: { sizeMax: 8192, sizeOf: toolValueSizeOf, run: checkToolValue },
    isUnbounded: true,
  },
  'find-pii': {
    file: taskFile('find-pii'),
    inline: { sizeMax: 2048, sizeOf: ({ texts }) => lengthOf(texts), run: findPii },
  },
  'find-secrets': { file: taskFile('find-secrets') },
  normalize: {
    file: taskFile('normalize'),
    inline: { sizeMax: 4096, sizeOf: ({ texts }) => lengthOf(texts), run: normalize },
  },
  'find-words': {
    file: taskFile('find-words'),
    inline: { sizeMax: 1_000_000, sizeOf: wordStepsOf, run: findWords },
  },
  // 64 KB take less than 1 ms.
  'scan-text': {
    file: taskFile('scan-text'),
    inline: { sizeMax: 65_536, sizeOf: ({ text }) => text.length, run: scanText },
  },
  'detect-language': { file: taskFile('detect-language') },
  'rate-gibberish': {
    file: taskFile('rate-gibberish'),
    inline: { sizeMax: 2048, sizeOf: ({ text }) => text.length, run: rateGibberish },
  },
  'score-injection': {
    file: taskFile('score-injection'),
    inline: { sizeMax: 2048, sizeOf: ({ texts }) => lengthOf(texts), run: scoreInjection },
  },
};

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
