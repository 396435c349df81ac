import { leftMax } from '../contract/protocol/limits/leases.ts';
import type { Lease } from './lease.ts';

/**
 * Leases of one budget that are no longer spent from. Each is reported until no call uses it and the ledger has its last figure.
 */
export class LeftLeases {
  readonly #leases: Lease[] = [];
  /** Start of the window of each lease. */
  readonly #startMs = new WeakMap<Lease, number>();
  #asked: readonly Lease[] = [];

  get isEmpty(): boolean {
    return this.#leases.length === 0;
  }

  get isUnreported(): boolean {
    return this.#leases.some((lease) => lease.isUnreported);
  }

  add(lease: Lease, startMs: number): void {
    if (lease.isOver) return;
    this.#leases.push(lease);
    this.#startMs.set(lease, startMs);
  }

  put(units: number, startMs: number, id: string): void {
    const lease = this.#find(id);
    if (lease && this.#startMs.get(lease) === startMs) lease.held -= units;
  }

  release(id: string): void {
    const lease = this.#find(id);
    if (lease) lease.holds--;
    this.#forget();
  }

  ask(): ReturnType<Lease['ask']>[] {
    this.#asked = this.#leases.filter((lease) => lease.isUnreported).slice(0, leftMax);
    return this.#asked.map((lease) => lease.ask());
  }

  granted(): void {
    for (const lease of this.#asked) lease.granted(0);
    this.#asked = [];
    this.#forget();
  }

  #find(id: string): Lease | undefined {
    return this.#leases.find((lease) => lease.id === id);
  }

  #forget(): void {
    for (const over of this.#leases.filter((lease) => lease.isOver)) this.#leases.splice(this.#leases.indexOf(over), 1);
  }
}
