import { parentPort } from 'node:worker_threads';
import { messageOf } from '../../../../core/contract/values/errors/message-of.ts';
import { AdminError } from '../../../http/errors.ts';
import { runTask } from './openapi-tasks.ts';
import type { FromOpenApiThread, ToOpenApiThread } from './run-openapi-task.ts';

/** The thread that reads OpenAPI documents: see `run-openapi-task.ts`. It sends `ready`, and then runs one task after another. */

const port = parentPort;
if (!port) throw new Error('this module runs in a thread');
port.on('message', ({ name, input }: ToOpenApiThread) => port.postMessage(resultOf(name, input)));
port.postMessage('ready');

function resultOf(name: ToOpenApiThread['name'], input: string): FromOpenApiThread {
  try {
    return { output: JSON.stringify(runTask(name, JSON.parse(input))) };
  } catch (thrown) {
    return thrown instanceof AdminError ? { invalid: thrown.message } : { failure: messageOf(thrown) };
  }
}
