import { expect, it } from 'vitest';
import { toLine } from '../../../../admin/resources/log-exports/export-fields.ts';

it('a line of an export has no half of a surrogate pair, in texts and names, and everything else unchanged', () => {
  const whole = { text: '😀 \u0000 \u2028 \\ud83d \\\\ud83d "\\', 'na"me\\': ['\\', 1.5, null] };
  expect(toLine(whole)).toBe(`${JSON.stringify(whole)}\n`);
  const cut = { text: 'a \ud83d', '\udc00': ['\\\ud83d', '\ud83d😀'] };
  expect(JSON.parse(toLine(cut))).toEqual({ text: 'a \ufffd', '\ufffd': ['\\\ufffd', '\ufffd😀'] });
  expect(toLine(cut)).not.toContain('\\ud');
});
