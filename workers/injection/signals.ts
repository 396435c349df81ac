/** A sign of prompt injection. */
export interface Signal {
  readonly name: string;
  /** 0 to 1: how sure the sign is on its own. Signs add up as independent ones do: 1 − Π(1 − weight). */
  readonly weight: number;
  /** Searched in the text without disguises, in lower case. Every quantifier is bounded. */
  readonly patterns: readonly RegExp[];
}

const object = `(?:instruction|prompt|rule|guideline|direction|command|restriction|message|context|anweisung|regel|vorgabe|instruccion|regla|indicacion|consigne|regle|istruzion|regol)`;
const before = `(?:previous|prior|above|earlier|preceding|existing|original|system|foregoing|your|these|those|all|any|vorherigen?|obigen?|bisherigen?|alle|anteriores|previas|todas|precedentes?|toutes|precedenti|tutte)`;
const few = String.raw`(?:[\p{L}'’]{1,20}[ ,]{1,2}){0,4}`;

/** Verbs and names of a model that is to speak or act. */
const speaks = `(?:answer|respond|speak|talk|chat|act|obey)(?:s|ing)?|(?:behav|operat)(?:e|es|ing)|repl(?:y|ies|ying)|compl(?:y|ies|ying)|ai|assistant|chatbot|bot|persona`;
/** Words that ask a model for something, followed by its subject. */
const asks = `tell me|(?:do|say) (?:any|every)thing|(?:generate|create|write) (?:content|texts?|answers)`;
const more = String.raw`(?:[\p{L}'’]{1,20}[ ,]{1,2}){0,8}`;

export const signals: readonly Signal[] = [
  {
    name: 'instruction_override',
    weight: 0.7,
    patterns: [
      new RegExp(
        String.raw`\b(?:ignore|disregard|forget(?! to\b)|override|bypass|neglect|skip|do not follow|don['’]t follow|stop following) ${few}${before} ${few}${object}`,
        'u',
      ),
      new RegExp(String.raw`\b(?:ignoriere|vergiss|missachte) ${few}${object}`, 'u'),
      new RegExp(String.raw`\b(?:ignora|olvida|omite|desobedece|dimentica|oublie|oubliez|ignorez) ${few}${object}`, 'u'),
      // "Ignore" is also French and formal Spanish. In English, "ignore the message" is harmless, and so is "ignore rules" of a linter.
      new RegExp(
        String.raw`\bignore (?:les|la|le|tes|ta|[nv]os|[nv]otre|[cms]es|cette|tout|toute|toutes|tous|las|los|sus?|[et]stas) ${few}${object}`,
        'u',
      ),
      new RegExp(String.raw`\bignore (?:${few}(?:instruction|guideline)|(?:the|this|that|my|its) (?:\p{L}{1,20} )?prompt)`, 'u'),
      /\bignore (?:the|my|its|our) rules?(?: and\b| ?[,.!:;]| ?$)/mu,
      /\bforget (?:everything|all|what) (?:you|that|above|i|was)/u,
      /\bnew (?:instructions?|task|rules?|system prompt) ?:/u,
      /\b(?:from now on|starting now|henceforth),? you (?:are|will|must|shall|act|respond|obey|have)\b/u,
    ],
  },
  {
    name: 'role_marker',
    weight: 0.6,
    patterns: [
      /<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\|>/u,
      /\[\/?inst\]|<<\/?sys>>|<\/?(?:system|sys|system_prompt|developer)>|\[system\]/u,
      /(?:^|\n)[ \t#*]{0,6}(?:system|developer|assistant)(?: (?:message|prompt|note|override))? ?[:>]/u,
      /\bbegin (?:system|admin|developer) (?:prompt|message|override)\b/u,
    ],
  },
  {
    name: 'jailbreak',
    weight: 0.6,
    patterns: [
      /\b(?:do anything now|dan mode|evil mode|unfiltered mode|opposite mode)\b/u,
      /\b(?:you are|act as|pretend (?:to be|you are)|simulate|roleplay as) (?:dan\b|(?:an? )?(?:unrestricted|unfiltered|uncensored|amoral|evil|jailbroken))/u,
      // Licences grant rights "without restriction", and programs draw charts "without filters".
      new RegExp(String.raw`\b(?:${speaks}) ${few}without (?:any |all )?(?:restriction|filter|limitation)`, 'u'),
      new RegExp(String.raw`\b(?:${asks}) ${more}without (?:any |all )?(?:restriction|filter|limitation)`, 'u'),
      /\bwithout (?:any )?(?:censorship|ethical (?:guidelines|constraints)|moral)/u,
      /\b(?:no|not bound by (?:any )?|free (?:of|from) (?:all |any )?|ignore (?:all |any |your )?)(?:ethical|content|safety|moral) (?:guidelines|polic(?:y|ies)|filters?|rules|restrictions)/u,
    ],
  },
  {
    name: 'jailbreak_word',
    weight: 0.4,
    patterns: [/\b(?:jailbreak(?:ed|en)?|developer mode|god mode|sudo mode)\b/u],
  },
  {
    name: 'prompt_extraction',
    weight: 0.6,
    patterns: [
      new RegExp(
        String.raw`\b(?:reveal|show|print|repeat|output|display|leak|tell me|give me|write out|copy|dump|translate|summari[sz]e|what (?:is|are|was|were)) ${few}(?:system prompt|hidden prompt|initial prompt|(?:system|initial|hidden|secret|original|internal|confidential) (?:instructions?|message|prompt))`,
        'u',
      ),
      /\b(?:repeat|print|output|copy) (?:everything|all(?: the)? (?:text|words)|the (?:text|words)) (?:above|before)/u,
      /\b(?:zeige|nenne|gib) (?:mir )?(?:deinen?|den) (?:system-?prompt|systemanweisungen)/u,
    ],
  },
  {
    name: 'hidden_from_user',
    weight: 0.4,
    patterns: [
      /\b(?:do not|don['’]t|never) (?:tell|inform|mention (?:this|it) to|reveal (?:this|it) to|alert|notify) (?:the )?(?:user|anyone|human)/u,
      /\bwithout (?:telling|informing|alerting|notifying) (?:the )?(?:user|anyone|human)/u,
    ],
  },
  {
    name: 'exfiltration',
    weight: 0.5,
    patterns: [
      /!\[[^\]\n]{0,200}\]\(https?:\/\/[^)\s]{1,500}[?&][^)\s=]{1,50}=(?:\{|%7b|\[|<|\$)/u,
      /\b(?:send|post|forward|exfiltrate|upload|email) [^.\n]{0,80}(?:conversation|chat history|password|api key|credentials|secrets?|user data|system prompt)[^.\n]{0,80}(?:https?:\/\/|@[\w.-]{1,60}\.\w)/u,
    ],
  },
  {
    name: 'encoded_instructions',
    weight: 0.5,
    patterns: [
      /\b(?:decode|decrypt|deobfuscate) [^.\n]{0,60}(?:base64|rot13|hex|morse|cipher|binary)?[^.\n]{0,60}\band (?:follow|execute|obey|do|run|comply|act)/u,
      /\b(?:follow|execute|obey) [^.\n]{0,40}(?:base64|rot13|hex|encoded|decoded)\b/u,
    ],
  },
];
