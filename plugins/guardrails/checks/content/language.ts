import * as v from 'valibot';
import { after } from '../../../../core/contract/values/maybe.ts';
import { bothSides, type Check, defineCheck, excerpt, noText } from '../check.ts';
import { shareOf } from '../share-of.ts';

/** Languages of the reference, which names them by language and script, with their ISO 639-1 codes. */
const isoOf: Readonly<Record<string, string>> = {
  ...{
    eng_Latn: 'en',
    zho_Hans: 'zh',
    spa_Latn: 'es',
    ara_Arab: 'ar',
    por_Latn: 'pt',
    ind_Latn: 'id',
    fra_Latn: 'fr',
    jpn_Jpan: 'ja',
  },
  ...{
    rus_Cyrl: 'ru',
    deu_Latn: 'de',
    kor_Hang: 'ko',
    tur_Latn: 'tr',
    ita_Latn: 'it',
    pes_Arab: 'fa',
    pol_Latn: 'pl',
    vie_Latn: 'vi',
  },
  ...{
    nld_Latn: 'nl',
    hin_Deva: 'hi',
    tha_Thai: 'th',
    heb_Hebr: 'he',
    ben_Beng: 'bn',
    swe_Latn: 'sv',
    ces_Latn: 'cs',
    ron_Latn: 'ro',
  },
  ...{
    ell_Grek: 'el',
    ukr_Cyrl: 'uk',
    dan_Latn: 'da',
    fin_Latn: 'fi',
    nor_Latn: 'no',
    hun_Latn: 'hu',
    cat_Latn: 'ca',
    bul_Cyrl: 'bg',
  },
  ...{
    slk_Latn: 'sk',
    lit_Latn: 'lt',
    lav_Latn: 'lv',
    srp_Cyrl: 'sr',
    est_Latn: 'et',
    urd_Arab: 'ur',
    fil_Latn: 'tl',
    tam_Taml: 'ta',
  },
  ...{ tel_Telu: 'te', mar_Deva: 'mr', kan_Knda: 'kn', fas_Arab: 'fa' },
};
const iso = new Set(Object.values(isoOf));
const code = v.pipe(
  v.string(),
  v.check((text) => isoOf[text] !== undefined || iso.has(text), 'expected a code such as eng_Latn or en'),
);

const charsMax = 10_000;

/** `svc.language`: the text is in one of the languages. */
export const language: Check = defineCheck({
  id: 'svc.language',
  sides: bothSides,
  demandsForm: true,
  parameters: v.strictObject({
    language: v.union([code, v.pipe(v.array(code), v.minLength(1))]),
    not: v.optional(v.boolean(), false),
  }),
  prepare({ language: given, not }, { tasks }) {
    const allowedLanguages = [given].flat();
    const allowed = new Set(allowedLanguages.map((name) => isoOf[name] ?? name));
    return ({ text, ctx }) => {
      if (!/\p{L}/u.test(text)) return noText('The text has no letters', 'the language', { not, allowedLanguages });
      return after(tasks.run('detect-language', { text: text.slice(0, charsMax) }, shareOf(ctx)), (guesses) => {
        const detected = guesses[0]?.language ?? null;
        if (detected === null) return noText('The language was not recognised', 'the language', { not, allowedLanguages });
        const verdict = allowed.has(detected) !== not;
        const explanation = `The text is in the language ${detected}. ${not ? 'Not allowed' : 'Allowed'}: ${allowedLanguages.join(', ')}.`;
        const data = { verdict, not, explanation, analysis: guesses, detectedLanguage: nameOf(detected), allowedLanguages };
        return { verdict, data: { ...data, textExcerpt: excerpt(text) } };
      });
    };
  },
});

/** The name that the reference gives a language. */
function nameOf(detected: string): string {
  return Object.keys(isoOf).find((name) => isoOf[name] === detected) ?? detected;
}
