import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { compileTemplate, TemplatePartial } from '../../prompts/compile-template.ts';
import { TemplateError } from '../../prompts/template-error.ts';
import { type LabelFile, labelsFile, type PartialFile, type PromptFile, partialFile, promptFile } from './file-schema.ts';
import { FileError, readYamlFile, type YamlFile } from './yaml-file.ts';

export interface Directory {
  readonly labels: YamlFile<readonly LabelFile[]> | null;
  /** Partials by slug. */
  readonly partials: ReadonlyMap<string, YamlFile<PartialFile>>;
  readonly prompts: ReadonlyMap<string, YamlFile<PromptFile>>;
}

/** Reads `labels.yaml`, `partials/<slug>.yaml` and `prompts/<slug>.yaml`. Throws AggregateError with one FileError per wrong file. */
export async function readDirectory(directory: string): Promise<Directory> {
  if (!(await stat(directory).catch(() => null))?.isDirectory()) throw new Error(`${directory}: is not a directory`);
  const errors: FileError[] = [];
  const attempt = async <T>(read: Promise<T>): Promise<T | null> => {
    try {
      return await read;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      errors.push(error);
      return null;
    }
  };
  const folder = async <Content>(name: string, read: (path: string, shown: string) => Promise<YamlFile<Content>>) => {
    const found = new Map<string, YamlFile<Content>>();
    for (const file of (await namesIn(join(directory, name))).filter((each) => each.endsWith('.yaml'))) {
      const content = await attempt(read(join(directory, name, file), `${name}/${file}`));
      if (content) found.set(file.slice(0, -'.yaml'.length), content);
    }
    return found;
  };
  const hasLabels = (await namesIn(directory)).includes('labels.yaml');
  const labels = hasLabels ? await attempt(readYamlFile(join(directory, 'labels.yaml'), 'labels.yaml', labelsFile)) : null;
  const partials = await folder('partials', readPartial);
  const prompts = await folder('prompts', readPrompt);
  if (errors.length > 0) throw new AggregateError(errors);
  return { labels, partials, prompts };
}

/** The template of a prompt as the API stores it. */
export function templateOf({ messages, text, raw }: PromptFile): { readonly string: string; readonly is_raw_template: 0 | 1 } {
  return { string: messages ? JSON.stringify(messages) : (text ?? raw ?? ''), is_raw_template: raw === undefined ? 0 : 1 };
}

/** The member of a file that holds its template. */
export function templateKey({ messages, text }: PromptFile): 'messages' | 'text' | 'raw' {
  if (messages) return 'messages';
  return text === undefined ? 'raw' : 'text';
}

async function readPartial(path: string, shown: string): Promise<YamlFile<PartialFile>> {
  const file = await readYamlFile(path, shown, partialFile);
  compile(
    () => new TemplatePartial(file.content.text),
    ({ line, message }) => new FileError(shown, file.lineOf(['text'], line), `text: ${message}`),
  );
  return file;
}

async function readPrompt(path: string, shown: string): Promise<YamlFile<PromptFile>> {
  const file = await readYamlFile(path, shown, promptFile);
  const { string, is_raw_template } = templateOf(file.content);
  const key = templateKey(file.content);
  compile(
    () => compileTemplate(string, { isRaw: is_raw_template === 1 }),
    ({ line, column, message }) => {
      if (key !== 'messages') return new FileError(shown, file.lineOf([key], line), `${key}: ${message}`);
      const at = messageAt(file.content.messages ?? [], column - 1);
      return new FileError(shown, file.lineOf(['messages', at]), `messages[${at}]: ${message.replace(/^line .*?: /, '')}`);
    },
  );
  return file;
}

function compile(work: () => unknown, toError: (error: TemplateError) => FileError): void {
  try {
    work();
  } catch (error) {
    throw error instanceof TemplateError ? toError(error) : error;
  }
}

/** The message that holds a position of the JSON of all. */
function messageAt(messages: readonly unknown[], position: number): number {
  let end = 1;
  for (const [at, message] of messages.entries()) {
    end += JSON.stringify(message).length + 1;
    if (position < end) return at;
  }
  return Math.max(0, messages.length - 1);
}

/** Names in a folder, in alphabetical order; none if it does not exist. */
async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.sort();
}
