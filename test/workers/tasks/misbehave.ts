/** Tasks that a pool has to survive. */
export default function misbehave(how: 'throw' | 'hang' | 'exit' | 'eat'): number {
  if (how === 'throw') throw new TypeError('the secret input');
  if (how === 'exit') process.exit(3);
  const kept: number[][] = [];
  for (;;) if (how === 'eat') kept.push(new Array(100_000).fill(kept.length));
}
