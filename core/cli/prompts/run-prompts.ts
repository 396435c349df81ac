import type { ServiceAccess } from '../service-access.ts';
import { AdminApi, ApiError } from './admin-api.ts';
import { type Plan, planLabel, planPartial, planPrompt } from './plan-changes.ts';
import { readDirectory, templateKey } from './read-directory.ts';
import type { YamlFile } from './yaml-file.ts';

/**
 * Compares the files of a directory with the service, and with `apply` makes the changes, file by file: labels, partials, prompts. Prints a line
 * per file. Items without a file stay as they are. Returns the exit code: 2 if a file could not be planned or applied.
 */
export async function runPrompts(
  command: 'plan' | 'apply',
  directory: string,
  access: ServiceAccess,
  print: (line: string) => void,
): Promise<number> {
  const api = new AdminApi(access);
  const { labels, partials, prompts } = await readDirectory(directory);
  const counts = { changed: 0, unchanged: 0, failed: 0 };
  const run = async (shown: string, plan: () => Promise<Plan>, lineOf: (field: string | null) => number) => {
    try {
      const { changes, apply } = await plan();
      if (command === 'apply') await apply();
      counts[changes.length === 0 ? 'unchanged' : 'changed'] += 1;
      print(`${shown}: ${changes.length === 0 ? 'unchanged' : changes.join(', ')}`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      counts.failed += 1;
      print(`${shown.split(' ')[0]}:${lineOf(error.field)}: error: ${error.message}`);
    }
  };
  for (const [at, label] of (labels?.content ?? []).entries()) {
    await run(
      `labels.yaml ${label.name}`,
      () => planLabel(api, label),
      () => labels?.lineOf([at]) ?? 1,
    );
  }
  for (const [slug, file] of partials) {
    await run(file.path, () => planPartial(api, slug, file.content), lineIn(file, { string: 'text' }));
  }
  for (const [slug, file] of prompts) {
    await run(file.path, () => planPrompt(api, slug, file.content), lineIn(file, { string: templateKey(file.content) }));
  }
  const verb = command === 'plan' ? 'to change' : 'changed';
  print(`${counts.changed} ${verb}, ${counts.unchanged} unchanged${counts.failed === 0 ? '' : `, ${counts.failed} failed`}`);
  return counts.failed === 0 ? 0 : 2;
}

/** `names`: members of the file by the names of the API. */
function lineIn(file: YamlFile<unknown>, names: Readonly<Record<string, string>>): (field: string | null) => number {
  return (field) => (field === null ? 1 : file.lineOf([names[field] ?? field]));
}
