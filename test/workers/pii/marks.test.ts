import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Detector } from '../../../workers/pii/detector.ts';
import { matchesOf } from '../../../workers/pii/matches.ts';
import { detectors } from '../../../workers/pii/search-pii.ts';

const lines = readFileSync(new URL('corpus.txt', import.meta.url), 'utf8')
  .replace(/\[[A-Z_]+:((?:[^\]])+)\]/g, '$1')
  .split('\n');
const words = lines.flatMap((line) => line.split(/(?<=[ :,.-])/));
const pieces = lines.flatMap((line) => line.match(/.{1,3}/gu) ?? []);
const others = [
  ...[
    '\n',
    '@',
    '.',
    ':',
    '::',
    '-',
    '0',
    '12',
    '1234',
    '(',
    '+',
    'ß',
    '’',
    '𝐀',
    'a'.repeat(70),
    'Übermut-'.repeat(9),
    ' '.repeat(30),
  ],
  ...[
    'Anna ',
    'van ',
    'della ',
    'born ',
    'call ',
    'téléphone ',
    'Name: ',
    'Mein Name ist ',
    'mi chiamo ',
    'Geburtsname: ',
    'fe80::1',
  ],
  ...[
    'straße ',
    'Auf dem ',
    'user@',
    'example.',
    'com',
    '3.4.1990',
    'Jan 5, 1990',
    'fecha de nacimiento ',
    '030 1234567',
    '1 2) 3 (4/',
  ],
];
const fragments = [...words, ...pieces, ...others];

/** Returns texts of random fragments, the same in each run. */
function randomTexts(count: number): string[] {
  let seed = 7;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed >>> 8) % below;
  };
  return Array.from({ length: count }, () =>
    Array.from({ length: random(random(10) === 0 ? 300 : 30) }, () => fragments[random(fragments.length)]).join(''),
  );
}

function withoutMark({ category, pattern, isValid }: Detector): Detector {
  return isValid ? { category, pattern, isValid } : { category, pattern };
}

describe('a search at marks', () => {
  const texts = [...lines, lines.join('\n'), lines.join(' '), lines.join(''), ...randomTexts(3_000)];

  it.each(detectors.filter(({ mark, digits }) => mark || digits).map((detector) => [detector.pattern.source, detector] as const))(
    'finds what the pattern finds in the whole text: %s',
    (_source, detector) => {
      const plain = withoutMark(detector);
      const different = texts.filter(
        (text) => JSON.stringify(matchesOf(text, [detector])) !== JSON.stringify(matchesOf(text, [plain])),
      );
      expect(different).toEqual([]);
    },
  );

  it('finds the longest matches, and what they look ahead to', () => {
    const long = [
      `${'a'.repeat(64)}@${`${'b'.repeat(63)}.`.repeat(8)}${'c'.repeat(24)}`,
      `${'𝐀'.repeat(64)}@${`${'𝐀'.repeat(63)}.`.repeat(8)}${'𝐀'.repeat(24)}`,
      `téléphone${'𝐀'.repeat(20)}${'1() '.slice(0, 3).repeat(14)}2`,
      `fecha de nacimiento${'𝐀'.repeat(24)}11th ${'𝐀'.repeat(9)}, 1990`,
      `Anna${'𝐀'.repeat(27)} della della ${`𝐀${'𝐀'.repeat(30)} della della `.repeat(2)}𝐀${'𝐀'.repeat(30)}`,
      `Geburtsname:  𝐀. 𝐀. 𝐀${'𝐀'.repeat(30)} della della 𝐀${'𝐀'.repeat(30)} della della 𝐀${'𝐀'.repeat(30)} 𝐀${'𝐀'.repeat(30)}`,
      `Mein Name ist  𝐀. 𝐀. 𝐀${'𝐀'.repeat(30)} della della 𝐀${'𝐀'.repeat(30)} della della 𝐀${'𝐀'.repeat(30)} 𝐀${'𝐀'.repeat(30)}`,
      `𝐀${'𝐀'.repeat(30)}straße 1234 a, 12345 𝐀${'𝐀'.repeat(30)} 𝐀${'𝐀'.repeat(30)}-𝐀${'𝐀'.repeat(30)}`,
      `1234:1234:1234:1234:1234:1234:1234:1234`,
    ];
    for (const text of long.flatMap((text) => [
      text,
      `${text} `,
      `${text}1`,
      `${text}𝐀`,
      `${text}${text}`,
      `x ${text} x ${text}`,
    ])) {
      expect(matchesOf(text, detectors)).toEqual(matchesOf(text, detectors.map(withoutMark)));
    }
  });
});
