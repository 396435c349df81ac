import * as v from 'valibot';
import { after } from '../../../core/contract/values/maybe.ts';
import { type Check, defineCheck, excerpt } from './check.ts';
import { scan } from './scan.ts';

/** Languages by the words that follow the fence of a code block. */
const languages: Readonly<Record<string, readonly string[]>> = {
  SQL: ['sql'],
  Python: ['python', 'py'],
  TypeScript: ['typescript', 'ts', 'tsx'],
  JavaScript: ['javascript', 'js', 'jsx'],
  Java: ['java'],
  'C#': ['csharp', 'cs', 'c#'],
  'C++': ['cpp', 'c++'],
  C: ['c'],
  PHP: ['php'],
  Ruby: ['ruby', 'rb'],
  Swift: ['swift'],
  Kotlin: ['kotlin', 'kt'],
  Go: ['go', 'golang'],
  Rust: ['rust', 'rs'],
  Scala: ['scala'],
  R: ['r'],
  Perl: ['perl', 'pl'],
  Shell: ['shell', 'sh', 'bash', 'zsh'],
  HTML: ['html'],
  CSS: ['css'],
  XML: ['xml'],
  JSON: ['json'],
  YAML: ['yaml', 'yml'],
  Markdown: ['markdown', 'md'],
  Dockerfile: ['dockerfile', 'docker'],
};

const nameOfWord = new Map(Object.entries(languages).flatMap(([name, words]) => words.map((word) => [word, name] as const)));

/** `default.containsCode`: looks at the language that code blocks name. */
export const containsCode: Check = defineCheck({
  id: 'default.containsCode',
  sides: ['output'],
  demandsForm: true,
  parameters: v.strictObject({ format: v.picklist(Object.keys(languages)), not: v.optional(v.boolean(), false) }),
  prepare({ format, not }, { tasks }) {
    const conclude = (words: readonly string[], text: string) => {
      const foundFormats = [...new Set(words.map((word) => nameOfWord.get(word.toLowerCase()) ?? word))];
      const isFound = foundFormats.includes(format);
      const fact =
        isFound || foundFormats.length > 0
          ? isFound
            ? `Found code block(s) in ${format} format`
            : `No code blocks in ${format} format found`
          : 'No code blocks found in the text';
      const ending = !not ? '' : isFound ? ' when none were expected' : ' as expected';
      return {
        verdict: isFound !== not,
        data: { explanation: `${fact}${ending}`, searchedFormat: format, not, foundFormats, textExcerpt: excerpt(text) },
      };
    };
    return ({ text, ctx }) => after(scan(tasks, 'code-languages', text, ctx), (words) => conclude(words, text));
  },
});
