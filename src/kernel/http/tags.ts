/** Marks an addition of this server. A route has it beside its own tag. */
export const EXT_TAG = '(ext)';

/** The groups of routes, in the order in which a newcomer needs them, each with a description. Documents list them in this order. */
export const routeTags: ReadonlyMap<string, string> = new Map(
  Object.entries({
    NPCs: 'Register, read and archive NPCs, and exchange them as character cards.',
    Protocol: 'Play a turn of an NPC: your client carries out each instruction and sends the result.',
    Facts: 'Report what the game knows of NPCs, and read it.',
    Memory: 'Store, list, recall, trace and retract the memories of an NPC.',
    Rules: 'Register the rulesets that NPCs follow, and see which of their rules take effect.',
    Bridge: 'Check whether the rules allow an action, without playing a turn.',
    Agents: 'Let the server play a whole turn of an NPC and answer with the result.',
    Cortex: 'List the language models that the server can use, choose one, and complete prompts with it.',
    Histories: 'Read what an NPC experienced: events, states, turns, and the reasons for a verdict.',
    Search: 'Find what was said, remembered, refused and retracted by all NPCs, and count it.',
    Replays: 'Repeat recorded decisions, with the recorded rules or with new ones.',
    Levels: 'Store the maps on which ghosts play.',
    Ghosts: 'Let headless NPCs test a level, and read what they find.',
    Souls: 'Move an NPC between servers as one signed document.',
    Verdicts: 'Fetch the public keys that verify signatures of this server.',
    Proofs: 'Prove that a recorded history was not changed.',
    Keys: 'Issue, list and revoke API keys, create tenants, and change the key that signs.',
    Server: 'Check the health of the server, and read its metrics and its documentation.',
    [EXT_TAG]: 'Additions of this server. Each is also listed under its subject.',
  }),
);
