import { describe, expect, it } from 'vitest';

import { saidBack, saidOfOneself } from '../../../../src/adapters/cortex/scripted/own-view.js';

describe('a statement, repeated back to the speaker', () => {
  it.each([
    ['The potion makes you sleepy.', 'The potion makes you sleepy.'],
    ['It keeps you awake, and lets you see.', 'It keeps you awake, and lets you see.'],
    ['I made you a cake.', 'you made me a cake.'],
    ['The duke tells you lies.', 'The duke tells me lies.'],
    ['I know you are here.', 'you know I am here.'],
    ['I hear you can cook.', 'you hear I can cook.'],
    ['I told you that I lost my sword.', 'you told me that you lost your sword.'],
    ['I walked with you.', 'you walked with me.'],
    ['The mine collapsed.', 'The mine collapsed.'],
    ['I own the old silver mine.', 'you own the old silver mine.'],
    ['The sword is mine.', 'The sword is yours.'],
    ['He is a friend of mine.', 'He is a friend of yours.'],
    ['I sold mine.', 'you sold yours.'],
  ])('%s', (said, back) => {
    expect(saidBack(said)).toBe(back);
  });
});

describe('a persona in the second person, turned into the first', () => {
  it.each([
    ['You think the dead talk to you', 'I think the dead talk to me'],
    ['You lost an eye, and you suspect your brother Olan.', 'I lost an eye, and I suspect my brother Olan.'],
    ['You are shy, but you would never say so.', 'I am shy, but I would never say so.'],
    ["You're old and you were a thief; it haunts you.", 'I am old and I was a thief; it haunts me.'],
    ['Your wife left you.', 'My wife left me.'],
    ['You hate who robbed you. You blame yourself.', 'I hate who robbed me. I blame myself.'],
  ])('%s', (persona, own) => {
    expect(saidOfOneself(persona)).toBe(own);
  });
});
