/** Fits a test of the pool: returns twice the number. */
export default function double(value: number): number {
  return value * 2;
}
