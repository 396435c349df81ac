/** Ends when another thread writes to the buffer. */
export default function waitFor(flag: SharedArrayBuffer): string {
  Atomics.wait(new Int32Array(flag), 0, 0);
  return 'released';
}
