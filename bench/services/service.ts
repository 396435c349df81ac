/** A dependency of the product that can be stopped and started again at the same address. */
export interface Service {
  readonly url: string;
  /** Starts it again. Resolves when it replies. */
  up(): Promise<void>;
  /** Kills it at once. */
  down(): Promise<void>;
  /** Stops it and removes its files. */
  close(): Promise<void>;
}
