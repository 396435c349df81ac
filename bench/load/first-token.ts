import { fileURLToPath } from 'node:url';
import { cores, run } from '../processes.ts';
import type { StreamFindings, StreamPlan } from './first-token-client.ts';

/** Opens these streams from a process on the load core and returns its results. */
export async function measureStreams(plan: StreamPlan): Promise<StreamFindings> {
  const program = fileURLToPath(new URL('./first-token-client.ts', import.meta.url));
  return JSON.parse(await run(cores.load, process.execPath, [program, JSON.stringify(plan)])) as StreamFindings;
}
