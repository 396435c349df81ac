/** Something the product depends on, which can go away and come back at the same address. */
export interface Service {
  readonly url: string;
  /** Starts it again; resolves when it answers. */
  up(): Promise<void>;
  /** Ends it at once, without a goodbye. */
  down(): Promise<void>;
  /** Ends it and removes what it left. */
  close(): Promise<void>;
}
