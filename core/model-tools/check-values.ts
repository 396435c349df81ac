import type { TaskRunner } from '../contract/plugin/services/worker-tasks.ts';
import { toGatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';

/** Returns why a value does not fit a schema, or cannot be checked, after the name of the schema; null: it fits. */
export type CheckValue = (name: 'inputSchema' | 'outputSchema', schema: JsonObject, value: unknown) => Promise<string | null>;

/** Length of a schema as JSON. The check of a longer one takes seconds. */
const schemaLengthMax = 256 * 1024;

/** Checks arguments and results against the schemas of tools. `owner` returns the workspace of the request. */
export function createValueCheck(tasks: TaskRunner, owner: () => string | undefined): CheckValue {
  return async (name, schema, value) => {
    const unusable = (reason: string) => `The ${name} of the tool cannot be used: ${reason}`;
    if (JSON.stringify(schema).length > schemaLengthMax) return unusable(`it has more than ${schemaLengthMax} characters`);
    try {
      const input = { schema, json: JSON.stringify(value) };
      const { problem, errors } = await tasks.run('check-tool-value', input, { owner: owner() });
      if (problem !== null) return unusable(problem);
      return errors.length === 0 ? null : `The ${name} of the tool is not met: ${errors.join('; ')}`;
    } catch (thrown) {
      const isBusy = toGatewayError(thrown).code === 'overloaded';
      return unusable(isBusy ? 'no thread is free for the check. Try again later' : 'the check needs too much time or memory');
    }
  };
}
