const mebibyte = 1024 * 1024;
/** A process without bodies, under load. */
const processBytes = 200 * mebibyte;
/** Resident memory per byte of bodies, see the description of BODY_MEMORY_MAX. */
const residentPerByte = 3;
/** One JSON body of 32 MiB (the default of JSON_BODY_MAX) with its values and its call. With less it would be 503 at all times. */
const least = 112 * mebibyte;
const most = 512 * mebibyte;

/**
 * Returns the default of BODY_MEMORY_MAX: 512 MiB, or less if so many processes would then need more memory than there is. `memoryBytes` is the
 * limit of the container, or the memory of the machine.
 */
export function bodyMemoryDefault(memoryBytes: number, processes: number): number {
  const bytes = (memoryBytes / processes - processBytes) / residentPerByte;
  return Math.floor(Math.min(most, Math.max(least, bytes)) / mebibyte) * mebibyte;
}
