import { SettingsError } from '../../config/load-settings.ts';
import { failureFields } from '../failure-fields.ts';

/** Runs a command and ends the process with its exit code. If it throws: prints the reason and exits with code 2. */
export function runCommand(command: () => Promise<number>): void {
  command().then(
    (code) => process.exit(code),
    (error: unknown) => {
      const reasons = error instanceof SettingsError ? error.issues : [failureFields(error).reason];
      process.stderr.write(`${reasons.join('\n')}\n`);
      process.exit(2);
    },
  );
}
