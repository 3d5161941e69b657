document.addEventListener('keydown', () => parent.reached.push('a key in the frame'));
