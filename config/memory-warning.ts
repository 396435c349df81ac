import type { Settings } from './settings.ts';

const mebibyte = 1024 * 1024;
/** See docs/operations.md, Sizing. */
const leastPerProcess = 512 * mebibyte;

/**
 * Returns a warning if the memory is less than 512 MiB for each process of this machine, the control plane included; null if it suffices.
 * `memoryBytes` is the limit of the container, or the memory of the machine.
 */
export function memoryWarning(
  { role, gatewayProcesses }: Pick<Settings, 'role' | 'gatewayProcesses'>,
  memoryBytes: number,
): string | null {
  const processes = (role === 'control-plane' ? 0 : gatewayProcesses) + (role === 'gateway' ? 0 : 1);
  if (memoryBytes >= processes * leastPerProcess) return null;
  const got = Math.floor(memoryBytes / mebibyte);
  const expected = (processes * leastPerProcess) / mebibyte;
  return (
    `memory: got ${got} MiB, expected at least ${expected} MiB for ${processes} ${processes === 1 ? 'process' : 'processes'}. Large bodies may make the kernel kill a process. ` +
    'Raise the limit of the container, or lower GATEWAY_PROCESSES and JSON_BODY_MAX (docs/operations.md, Sizing)'
  );
}
