import { leftMax } from '../contract/protocol/limits/leases.ts';
import type { Lease } from './lease.ts';

/**
 * Leases of one budget that are no longer spent from. Each is reported until no call uses it and the ledger has its last figure.
 */
export class LeftLeases {
  /** Each lease with the start of its window. */
  #left: readonly { readonly lease: Lease; readonly startMs: number }[] = [];
  #asked: readonly Lease[] = [];

  get isEmpty(): boolean {
    return this.#left.length === 0;
  }

  get isUnreported(): boolean {
    return this.#left.some(({ lease }) => lease.isUnreported);
  }

  add(lease: Lease, startMs: number): void {
    if (!lease.isOver) this.#left = [...this.#left, { lease, startMs }];
  }

  put(units: number, startMs: number, id: string): void {
    const left = this.#find(id);
    if (left?.startMs === startMs) left.lease.held -= units;
  }

  release(id: string): void {
    const left = this.#find(id);
    if (left) left.lease.holds--;
    this.#forget();
  }

  ask(): ReturnType<Lease['ask']>[] {
    const leases = this.#left.map(({ lease }) => lease);
    this.#asked = leases.filter((lease) => lease.isUnreported).slice(0, leftMax);
    return this.#asked.map((lease) => lease.ask());
  }

  granted(): void {
    for (const lease of this.#asked) lease.granted(0);
    this.#asked = [];
    this.#forget();
  }

  #find(id: string): { readonly lease: Lease; readonly startMs: number } | undefined {
    return this.#left.find(({ lease }) => lease.id === id);
  }

  #forget(): void {
    this.#left = this.#left.filter(({ lease }) => !lease.isOver);
  }
}
