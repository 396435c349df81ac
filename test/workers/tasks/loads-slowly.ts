import { BroadcastChannel } from 'node:worker_threads';

const channel = new BroadcastChannel('loads-slowly');
// Loads until a message arrives.
await new Promise((resolve) => {
  channel.onmessage = resolve;
  channel.postMessage('loading');
});
channel.close();

let calls = 0;

/** Returns how often the thread has run this task. */
export default function loadsSlowly(): number {
  calls++;
  return calls;
}
