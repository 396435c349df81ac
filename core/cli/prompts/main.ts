import { parseArgs } from 'node:util';
import { serviceAccess } from '../service-access.ts';
import { runPrompts } from './run-prompts.ts';

/** `npm run -s prompts -- plan|apply DIR`: see docs/guides/prompts-in-a-repository.md. Exit code 2: an error. */
async function main(): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [command, directory, ...others] = positionals;
  if ((command !== 'plan' && command !== 'apply') || directory === undefined || others.length > 0)
    throw new Error('usage: npm run -s prompts -- plan|apply DIR');
  const access = await serviceAccess('a key with the scopes of prompts (create, read, update, list, publish)');
  return runPrompts(command, directory, access, (line) => void process.stdout.write(`${line}\n`));
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    const lines = error instanceof AggregateError ? error.errors.map(({ message }: Error) => message) : [error.message];
    process.stderr.write(`${lines.join('\n')}\n`);
    process.exitCode = 2;
  },
);
