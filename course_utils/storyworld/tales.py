"""The tales: names and story arcs, in the notation that notation.read_arc reads.

To add an arc, write it below and run the tests: they check that it stays under 400 characters, that each
fact comes back at least once, that a pronoun never comes before its name, and that no text can be made in
 two ways.
Only ASCII, no exclamation marks, one sentence a pattern; a quotation holds one sentence.
"""

from functools import cache

from course_utils.storyworld.notation import Arc, Slot, person, read_arc

_SHE = "Ada Bess Clara Edith Flora Greta Hazel Ida Juno Mabel Nora Olive Pearl Ruth Tilda Wanda"
_HE = "Abel Arlo Bruno Caleb Emil Felix Hugo Ivo Jack Leo Milo Nico Otto Simon Theo Wilf"
SHE, HE = tuple(_SHE.split()), tuple(_HE.split())
NAMES = tuple(person(name, "she") for name in SHE) + tuple(person(name, "he") for name in HE)

# The two never share a pronoun, so that "she" and "he" always say who is meant.
PEOPLE = (Slot("hero", NAMES, unlike="friend"), Slot("friend", NAMES, unlike="hero"))

SOURCES = (
    """
the lost thing
thing = key | whistle | thimble | compass | locket | bell | medal | penknife
look = brass | silver | copper | tin | golden | iron | steel
place = behind the clock | under the stairs | beneath the piano | inside an old boot | in the flour jar |
 between two fat books | under the fat dog | in the coal bucket
- opening
One [foggy|windy|rainy|frosty|quiet] [morning|evening|Sunday] {hero} could not find {hero.their} {look} {thing}.
{hero} had lost {hero.their} {look} {thing}, and {hero.their} [porridge|soup|tea|toast] was getting cold.
The {look} {thing} was gone, though {hero} had emptied
 [every drawer|both pockets|the pantry|all the hats|the sugar bowl].
- search, sometimes
{hero.They} looked [in the attic|behind the curtains|under the carpet|in the teapot] and found only
 [crumbs|a moth|an old stamp|three dry peas|a sock].
{hero.They} asked the cat, who [yawned|looked away|pretended to be asleep|blinked].
- help
{friend} came by with [a lantern|fresh bread|a pot of jam|two cousins] and offered to help.
{friend}, who [lived next door|liked riddles|had nothing else to do|was passing], came in to help.
- advice, sometimes
"Let us look where nobody looks," said {friend}.
"Lost things like to be [alone|warm|quiet|dry]," said {friend}.
- find
{place.Cap} lay the {look} {thing}, [quite safe|a little dusty|as bright as ever|looking innocent].
They found the {look} {thing} {place}, [quite safe|a little dusty|none the worse|humming].
- ending
Now {hero} always looks {place} first, and {friend} gets [a biscuit|the big chair|the last pear|a bow].
How the {thing} came to be {place}, neither {hero} nor {friend} could say.
{hero} thanked {friend}, but never learned who had put it {place}.
""",
    """
the kite
colour = red | yellow | green | blue | orange | violet | silver
shape = dragon | whale | owl | fox | carp | lion | beetle
place = on the chapel roof | in the old oak | on the windmill | on the flagpole | in the stork's nest |
 on the weathercock
- opening
{hero} built {colour.a} kite in the shape of {shape.a}.
It took {hero} [three days|a whole week|two pots of glue|much paper] to make {colour.a} {shape} kite.
{hero} was given {colour.a} kite with the face of {shape.a}.
- flight
The wind liked it so much that it [broke the string|would not give it back|kept it|ran off with it].
It flew [beautifully|higher than the swallows|for one proud minute|upside down], and then the string snapped.
On the [hill|beach|meadow|dunes] a [sudden|cheeky|strong|warm] wind pulled it out of {hero.their} hands.
- stuck
The {colour} {shape} sailed over the [fields|rooftops|orchards|market] and got stuck {place}.
The kite came down {place}, where [two crows|a pigeon|a squirrel|a jackdaw]
 [inspected|scolded|admired|poked] the {shape}.
- rescue
{friend} [came past with a ladder|happened by with a pole|climbed up barefoot] and rescued it,
 [humming|whistling|grumbling|giggling].
{hero} could not reach it, but {friend} next door had [a ladder|a long pole|a tall horse|long arms].
- mending, sometimes
{hero} mended its tail with [a ribbon|a shoelace|an old tie|grey wool].
- ending
Whenever the {colour} {shape} is gone, {hero} and {friend} look {place} first.
"Your {colour} {shape} likes it {place}," said {friend}, and {hero} [laughed|agreed|sighed|blushed].
{hero} let {friend} fly the {colour} {shape} home, and {place} it was quiet again.
""",
    """
the giant vegetable
plant = pumpkin | turnip | cabbage | marrow | radish | onion | beetroot
size = barrel | bathtub | wheelbarrow | rowing boat | cradle | cauldron | suitcase
place = by the gate | behind the shed | near the well | beside the hen house | under the window |
 next to the swing
- opening
{hero} planted one [tiny|wrinkled|crooked|lonely] {plant} seed {place}.
{friend} gave {hero} {plant.a} seed, and {hero.they} planted it {place}.
{place.Cap}, where nothing ever grew, {hero} planted {plant.a} seed.
- care, sometimes
{hero.They} watered it [before breakfast|every evening|in all weathers|twice a day] and
 [sang to it|told it jokes|read it the news|called it dear].
Every [morning|Sunday|evening] {hero.they} [bowed to it|gave it a cup of rain|wished it good luck|praised it].
- growth
By [August|autumn|harvest time|September] the {plant} {place} was as big as {size.a}.
It grew and grew, until {place} there was {plant.a} the size of {size.a}.
- work
{hero} called {friend}, and they [pulled|pushed|tugged|dug] until
 [the ground sighed|they fell over|their hats fell off|it gave in].
To move it, {hero} needed {friend}, [two ponies|four cousins|a long rope|a tractor] and
 [a song|much patience|a plank|some tea].
- fair, sometimes
At the fair it won [a ribbon|first prize|a silver cup|respect].
The mayor [kissed it|gave it a medal|asked for its name|made a speech].
- ending
{friend} had three bowls of {plant} [soup|stew|broth], served from {size.a}.
Nobody believes in {plant.a} like {size.a}, but {friend} [saw it|has a drawing|dreams of it|was there].
""",
    """
the letter
home = in the lighthouse | at the mill | above the bakery | on the island | by the canal | beyond the forest |
 on the pier
gift = pressed fern | white feather | biscuit | walnut | clover leaf | button | paper boat
carrier = pigeon | goat | donkey | goose | tortoise | hen | hedgehog
- opening
{hero} wrote a [long|short|cheerful|clever] letter to {friend}, who lived {home}.
{friend} lived {home}, so one [rainy|quiet|lazy|grey] Sunday {hero} wrote {friend.them} a letter.
- envelope
{hero.They} put in {gift.a} and sealed it with [honey|red wax|a kiss|jam].
Words were not enough, so {hero.they} added {gift.a}.
- post
The postman was [ill|asleep|on holiday|in love], so {carrier.a} took it.
{carrier.A} promised to deliver it [for a carrot|by moonlight|within a week|with care].
- journey, sometimes
The {carrier} [stopped for lunch|took a nap|got lost twice|met a friend], but the letter stayed dry.
The {carrier} asked [a scarecrow|two cows|a milestone|a nun] the way and came a day [late|early].
- arrival
When the {gift} fell out of the envelope, {friend} [laughed|wept a little|danced|sneezed].
{friend} read it [twice|aloud|by candlelight|in the bath] and put the {gift}
 [on the shelf|under glass|in a frame].
- ending
"Thank the {carrier} for me," wrote {friend}, "and come and see me {home}."
The {carrier} stayed {home}, and {friend.s} answer came by [bicycle|train|balloon|canoe].
Now {hero} and the {carrier} have tea {home} every [month|Sunday|spring|Friday].
""",
    """
the noise at night
animal = owl (sound: hooting) | mouse (sound: squeaking) | hedgehog (sound: snuffling) |
 cricket (sound: chirping) | pigeon (sound: cooing) | frog (sound: croaking) | kitten (sound: mewing)
room = attic | cellar | pantry | wardrobe | woodshed | bathroom
pet = Pepper | Captain | Duchess | Major | Crumpet | Admiral | Pudding
- opening
[At midnight|Before dawn|One night|At three] {hero} woke up, for something was {animal.sound} in the {room}.
Something was {animal.sound} in the {room}, and {hero} could not [sleep|read|dream|think].
- fear, sometimes
{hero.They} thought of [ghosts|burglars|a dragon|wolves] and put on {hero.their}
 [boots|warmest hat|dressing gown].
{hero.They} pulled up the blanket, but the {animal.sound} went on.
- courage
{hero.They} woke {friend}, who took [a candle|a frying pan|a broom|a fork] and went [first|ahead|last].
"No ghost sounds like that," {friend} told {hero} [at the door|through the wall|with a yawn|calmly].
- discovery
In the {room} sat {animal.a}, [blinking|very much at home|wearing a cobweb|half asleep].
They opened the door of the {room} [an inch|slowly|together|bravely] and saw {animal.a}.
- naming
{hero} named it {pet} and [fed it oats|made it a bed of straw|lent it a slipper|shook hands].
{friend} called it {pet}, because of its [serious face|round belly|fine manners|deep voice].
- ending
Now, when there is {animal.sound} in the {room}, {friend} only says, "Good night, {pet}."
{pet} the {animal} still lives in the {room}, and {friend}
 [reads to it|brings it supper|sings to it|waves to it].
{hero} and {friend} sleep well now, for {pet} the {animal} keeps the ghosts away.
""",
    """
the race
quick = hare | rabbit | squirrel | goat | pony | fox
slow = snail | tortoise | hedgehog | duck | mole | toad
goal = well | windmill | chapel | willow | milestone | bridge | haystack
prize = cheese | plum tart | jar of honey | melon | red scarf | drum | feather bed
- opening
The {quick} and the {slow} agreed to race to the {goal}.
"I can beat you to the {goal}," said the {quick} to the {slow}.
One [Monday|Friday|spring day|Sunday], for no good reason, the {quick} and the {slow} raced to the {goal}.
- stakes
The prize was {prize.a}, and [the whole wood|a row of crows|everybody|two bats] came to watch.
An old [owl|badger|heron|beaver] promised the winner {prize.a} and
 [blew a whistle|dropped a leaf|sneezed|winked].
- turn
The {quick} was soon out of sight and stopped [for a nap|to comb its ears|for a second breakfast|to boast].
Halfway there the {quick} stopped to [admire its shadow|eat clover|wave to the crowd|sign a leaf].
The {slow} went on, [counting daisies|humming a march|one step at a time|smiling].
The {slow} [got a lift on a cart|found a short cut|had a map|never stopped].
- finish
When the {quick} came to the {goal}, the {slow} was [hugging|guarding|admiring|dusting] the {prize}.
At the {goal} the {slow} was first by [a whisker|a nose|one short step|an hour], and won the {prize}.
- ending
The {slow} shared the {prize} with the {quick}, for it was too [big|good|fine] for one.
"Next time I shall [start earlier|skip breakfast|stay awake|run]," said the {quick}, and the {slow}
 [smiled|nodded|bowed].
""",
    """
the clock that stopped
where = station | school | square | harbour | market | castle
hour = two | three | four | five | seven | nine | eleven
cause = mitten | acorn | tin soldier | cheese rind | glass eye | fishbone | pencil
- opening
The {where} clock stopped at {hour}, and
 [everyone was late|nobody went to bed|lunch went on for days|the hens complained].
One [Tuesday|Thursday|Saturday|night] the {where} clock struck {hour} and would not go on.
For [a week|nine days|a month|a year] it had been {hour} o'clock at the {where}.
- call
"It cannot be {hour} for ever," said {friend} the [baker|mayor|teacher|miller], and sent for {hero}.
{friend} the [baker|mayor|teacher|miller] sent for {hero}, who could mend anything with
 [a hairpin|a fork|honey|a smile].
- climb, sometimes
{hero.They} climbed up with [an oil can|a lamp|a sandwich|a feather] and [listened|looked in|knocked].
{hero.They} took off {hero.their} [hat|coat|shoes] and crawled in among the [wheels|springs|pigeons|dust].
- finding
"No wonder," said {hero}, and pulled out {cause.a}.
Between two [big|small|rusty] wheels {hero.they} found {cause.a}.
- restart
With a [groan|cough|happy click|sigh] the {where} clock left {hour} behind.
One [push|kick|kind word|drop of oil], and the hands of the {where} clock moved on from {hour}.
- ending
The {cause} went to the museum, and {friend} [dusts it|salutes it|draws it|visits it] every Sunday.
{hero} gave the {cause} to {friend}, who has been [early|on time|hungry|happy] ever since.
{friend} paid with [a goose|two pies|a song|a kiss] and kept the {cause} as a souvenir.
""",
    """
the riddle at the gate
guard = troll | goose | giant | toad | raven | dwarf | bear
gate = iron gate | drawbridge | tunnel | toll gate | garden door | city gate
answer = clock (riddle: has hands but never claps) | needle (riddle: has an eye but never sees) |
 potato (riddle: has many eyes but never weeps) | comb (riddle: has teeth but never bites) |
 book (riddle: has a spine but no bones) | table (riddle: has four legs but never walks) |
 bottle (riddle: has a neck but no head) | shoe (riddle: has a tongue but never talks)
- opening
[A polite|A sleepy|A grumpy|A lonely] {guard} guarded the {gate} with a riddle.
Nobody could use the {gate} without answering the {guard}.
- traveller
{hero} was on {hero.their} way to {friend} and [already late|carrying a cake|in a hurry|humming].
{hero}, who wanted to visit {friend}, [bowed|said good day|took off a glove|coughed].
- riddle
"What {answer.riddle}?" asked the {guard}.
"Well," said the {guard}, "what {answer.riddle}?"
- thought, sometimes
{hero.They} thought of everything that {friend} [owned|had ever sold|kept at home|had lent].
{hero.They} thought [until sunset|hard|for an hour], mostly about [soup|socks|lunch|cheese].
- reply
"{answer.A}," said {hero} [at last|softly|with a grin|at once].
"Easy," said {hero}, "it is {answer.a}."
- passage
The {guard} [groaned|clapped|blushed|wept for joy] and opened the {gate}.
The {guard} [was amazed|shook hands|ate a hat|sang] and let {hero} through the {gate}.
- ending
{friend} was so proud that {friend.they} gave {hero} {answer.a} with a ribbon on it.
Now the {guard} keeps {answer.a} as a souvenir, and {friend} goes through free.
The {guard} needs a new riddle, for {friend} told everyone about the {answer}.
""",
    """
the birthday cake
flavour = lemon | cherry | ginger | almond | honey | walnut | apple | plum
place = on the windowsill | on the garden wall | on the doorstep | on the porch | by the gate | under the elm
thief = goat | dog | magpie | goose | pony | fox | raccoon
- opening
{hero} baked {flavour.a} cake for {friend.s} birthday.
It was {friend.s} birthday, and {hero} was up early to bake {flavour.a} cake.
For {friend}, {hero} baked the [tallest|roundest|finest|boldest] {flavour} cake in
 [town|the valley|the street|years].
- cooling
{hero.They} put it {place} to cool and went to [find candles|fetch a ribbon|wash the bowl|get dressed].
It stood {place} to cool while {hero.they} [wrote a card|took a nap|washed up|sang].
- theft
A [hungry|passing|well-mannered|sly] {thief} ate it and left [only the plate|one crumb|no crumbs].
When {hero} came back, {thief.a} was eating the last [slice|crumb|bite|layer].
- scolding
{hero} scolded the {thief}, which [hiccuped|looked sorry|asked for tea|blushed].
The {thief} looked [sorry|happy|rather round|ill], and {hero} [sighed|sat down|counted to ten|wept].
- comfort, sometimes
{friend} [laughed|brought toast|came], and they put the candles on [a potato|a loaf|a cabbage|a bun].
"Was it good?" asked {friend}, and the {thief} [nodded|bowed|burped].
- ending
{hero} baked another {flavour} cake, which {friend} guarded {place}.
Now {friend} tells everyone that {place} {flavour} cake will not keep.
Now {hero} bakes two {flavour} cakes, one for {friend} and one to leave {place}.
""",
    """
the snowman
place = by the pond | in the yard | outside the school | before the inn | on the bridge | next to the bakery
nose = carrot | parsnip | pine cone | pickle | potato | candle
hat = straw hat | top hat | saucepan | flowerpot | woolly cap | bucket | lampshade
- opening
When the first snow fell, {hero} and {friend} built a snowman {place}.
{hero} and {friend} built a [fat|tall|crooked|cheerful|serious] snowman {place}.
- dressing
{hero} gave it {nose.a} for a nose, and {friend} gave it {hat.a}.
Its nose was {nose.a}, and {friend} lent it {hat.a}.
- night, sometimes
At night it [hummed|bowed to the owls|told jokes to the moon], or so {friend} said.
[Two sparrows|A robin|Some mice|A wren] moved into the {hat} [at once|the same night|on Sunday].
A rabbit came every [morning|evening] to [look at|sniff at|dream of|praise] the {nose}.
Passing [dogs|sailors|nuns|postmen] wished it [good day|well|luck].
- thaw
In [March|April|May] the sun came out and left only {nose.a} and {hat.a} {place}.
Then it [thawed|rained|grew warm], and all that was left {place} was {hat.a} and {nose.a}.
- ending
{friend} kept the {hat} and {hero} the {nose}, so as to begin again next year.
{hero} keeps the {nose} [in a drawer|in the larder|on ice|in a sock], and {friend} wears the {hat}
 [to weddings|in bed|on Sundays].
{hero} put the {hat} on a post, and {friend} still [bows to it|tells it the news|asks its advice].
""",
    """
the late book
topic = whales | volcanoes | knots | comets | mushrooms | pirates | bees | clouds
span = two years | seven years | twenty years | forty days | eleven weeks | nine months
- opening
{hero} found a library book about {topic} that was {span} overdue.
Behind the [stove|sofa|bookcase|piano] {hero} found a library book about {topic}, due back {span} ago.
- worry, sometimes
{hero.They} worked out the fine, and it came to [a cow|a small house|four hundred buns|a horse].
{hero.They} wrapped it in [a shawl|newspaper|a towel|a sheet] and took it back
 [through the rain|on tiptoe|after dark|by bus].
- desk
{friend}, the librarian, [put on two pairs of glasses|sniffed the cover|rang a bell|took it] and
 [sighed|whistled|coughed|smiled].
At the desk sat {friend}, who [never forgot a title|whispered like thunder|knew books by their smell|looked up].
- verdict
"Then you must know all about {topic} by now," said {friend}, "after {span}."
"{span.Cap} is not long for {topic}," said {friend}.
"I needed {span} for the {topic}," said {hero}, and {friend} [understood|nodded|raised an eyebrow|sighed].
- ending
So {hero} paid by telling children about {topic} every [Friday|Saturday|Monday|morning] for {span}.
For a fine {friend} asked {hero} for [a drawing of|a song about|a poem on|a talk on] {topic}.
So {friend} stamped it again, for {hero} had [dreamed|talked|thought] of {topic} ever since.
""",
    """
the painting
colour = blue | green | violet | pink | orange | crimson | purple
animal = cow | horse | hen | goat | donkey | pig | sheep
place = in the town hall | in the bakery | at the station | in the library | in the post office |
 at the barber's
- opening
{hero} painted {colour.a} {animal}, because
 [the other paints were dry|it was Tuesday|the day felt like it|it rained].
{hero} had one pot of paint left, so the {animal} in {hero.their} picture was {colour}.
- critic
"No {animal} is {colour}," {friend} told {hero} [at once|over the garden fence|kindly|with a sniff].
{friend}, who [taught sums|sold hats|kept bees], told {hero} that {colour.a} {animal} was
 [rude|a mistake|wrong].
- answer, sometimes
"Look again," said {hero}.
{hero} [smiled|shrugged|coughed|winked].
- hanging
They hung it {place}, where people [stared|argued|took off their hats|forgot the time].
The picture hung {place}, and soon [children waved to it|the milkman greeted it|two poets came|it was famous].
- twist
One evening the sun went down, and for a minute every {animal} was {colour}.
Then [a farmer|a child|a tired pedlar|a sailor] looked at it and said, "That is my {animal}."
- ending
Now {friend} stands {place} and tells visitors about the {colour} {animal}.
{friend} [took back every word|asked for another|was silent|wept], and the {colour} {animal} stayed {place}.
""",
    """
the treasure map
source = old coat | blue bottle | cracked teapot | hollow book | violin case | Chinese vase
spot = under the pear tree | behind the chapel | beside the third stone | below the scarecrow |
 between two birches | near the beehives
treasure = marbles | buttons | seashells | spoons | love letters | toy soldiers | chess pieces
- opening
In {source.a} {hero} found a map with a cross {spot}.
{hero} shook {source.a}, and out fell a map with a cross {spot}.
- digging
{friend} brought [lemonade|a rope|a bag for gold|a song], and {hero} dug {spot} until [noon|dark|it rained].
{hero} and {friend} dug {spot} until [noon|their hands hurt|a worm complained|tea].
{spot.Cap} {hero} and {friend} dug [for hours|in turns|in silence|by moonlight].
- box
At last they struck a box, and in it were [forty|ninety|a hundred|sixty] {treasure}.
There was a box of {treasure}, and a note that said, "[Well done|Finders keepers|Please put it back|Sorry]."
- gold
{hero} had hoped for [gold|rubies|a crown|coins], but {friend} [was delighted with|danced around|kissed]
 the {treasure}.
"No gold," said {friend}, "but I have always wanted {treasure}."
- ending
They divided the {treasure} and put the map back into the {source}.
They left the map in the {source} for [somebody else|the next children|a rainy day|luck].
""",
    """
the two suitcases
town = Dunmere | Elmbridge | Ashby | Whitcombe | Larkhill | Saltmouth | Oakford
colour = green | red | brown | yellow | purple | orange | white
content = trombone | wedding cake | stuffed owl | live hen | crown | cuckoo clock | wooden leg
- opening
On the train to {town} {hero} had {colour.a} suitcase, and so did {friend}.
{hero} and {friend} met on the train to {town}, each with {colour.a} suitcase.
Opposite {hero} on the train to {town} sat {friend} with the same {colour} suitcase.
- talk, sometimes
They talked about [turnips|the weather|their aunts|ships] and shared
 [a sandwich|some cherries|a boiled egg|a pie].
{friend} slept, and {hero} [counted cows|did the crossword|ate both apples|knitted].
- mistake
At {town} each of them took the wrong suitcase.
They got out in a [hurry|crowd|snowstorm|great rush], each with the wrong suitcase.
- surprise
At bedtime {hero} opened the {colour} suitcase and found {content.a}.
In the {colour} suitcase {hero} found no [slippers|toothbrush|pyjamas|soap], but {content.a}.
- elsewhere, sometimes
Across town {friend} [frowned|laughed|stared] at {hero.s} [socks|slippers|nightcap|diary].
- ending
Next day at {town} station {friend} got back the {content}, and {hero} [cheered|bowed|wept].
On the way home from {town} they met again, and {friend} [hugged|dusted|kissed|tickled] the {content}.
""",
    """
the musician
instrument = trumpet | tuba | fiddle | drum | flute | accordion | saxophone
place = on the roof | in the bath | in the cellar | on the balcony | in the barn | under the stairs
- opening
Every [evening|night|morning] {hero} played the {instrument} {place}.
{hero} had bought {instrument.a} and practised {place} [all week|day and night|at dawn|for hours].
- noise, sometimes
It sounded like [a goose in a bucket|a door that wants oil|two cats and a kettle|a sad bear].
[The dog howled|The milk turned sour|Three windows cracked], and [the mice moved out|the postman ran].
- complaint
{friend}, who lived [nearby|next door|across the street|opposite], asked for [mercy|a quiet evening|less|peace].
"Must it be the {instrument}?" asked {friend} [politely|through the wall|from the window|in tears].
- silence
So {hero} put the {instrument} away, and it was very quiet {place}.
{hero} was ashamed, and for [a week|six days|a month|days] there was no {instrument} {place}.
- regret
But then {friend} could not [sleep|work|boil an egg|dream|think] without it.
Then {friend} [knocked|came over|rang] and said, "It is too quiet."
- ending
Today they play {place}, {hero} the {instrument} and {friend} the [spoons|triangle|comb|kettle].
These days {friend} sits {place} and asks for more {instrument}.
""",
    """
the bad bargain
beast = cow | goat | pig | pony | ram | goose | mule
ware = umbrella (event: it rained for forty days) | lantern (event: the sun forgot to rise) |
 ladder (event: all the stairs fell down) | rowing boat (event: the river came to the door) |
 broom (event: nine tons of leaves fell) | foghorn (event: a fog came down and stayed) |
 mousetrap (event: a thousand mice moved in) | shovel (event: it snowed up to the chimneys)
- opening
{hero} went to market to sell {beast.a} and came home with {ware.a}.
{friend} sent {hero} to sell {beast.a}, and {hero.they} came back with {ware.a}.
At the market {hero} swapped [a good|a fat|a prize|a clever] {beast} for a second-hand {ware}.
- excuse, sometimes
It had been [a bargain|love at first sight|the last one|fate], {hero.they} said.
The pedlar had [winked|spoken so kindly|thrown in a pear|wept], {hero.they} said.
- scolding
"We had {beast.a}," {friend} told {hero} [at home|at the door|in tears], "and now we have {ware.a}."
At home {friend} missed the {beast} and would not [look at|speak to|touch|praise] {hero.s} {ware}.
- event
Then, [in May|one Thursday|a month later|at Easter], {ware.event}.
But [that autumn|in the spring|before long|soon] {ware.event}.
- demand
Nobody else had {ware.a}, and people [queued|begged|paid in silver|knelt] to borrow it.
[All the neighbours|The mayor|Even the pedlar|A duke] came to borrow the {ware} and paid in
 [eggs|gold|cheese|wool].
- ending
In time {hero} bought back the {beast}, and {friend} [polishes|dusts|kisses|thanks] the {ware} daily.
"I never liked that {beast}," said {friend}, and gave the {ware} [a pat|the best room|a name|a kiss].
""",
    """
the tailor
client = king | scarecrow | bishop | bear | giant | pirate | wizard
cloth = velvet | wool | linen | felt | silk | tartan | corduroy
garment = coat | jacket | gown | robe | shirt | nightshirt
- opening
The {client} ordered {cloth.a} {garment} from {hero}, the [best|only|slowest|boldest] tailor in
 [town|the hills].
"Make me {cloth.a} {garment}," said the {client} to {hero}, the [best|only|slowest|boldest] tailor in
 [town|the hills].
- sewing
{hero} measured with [a spoon|a sausage|one eye shut|a snake], so it came out
 [too short|too wide|with three sleeves].
{hero} sewed by the light of [one candle|the moon|a glow-worm|a star] and made
 [one sleeve too many|two left sleeves].
- doubt, sometimes
"This is how {cloth} is worn now," said {hero} [calmly|without blushing|through the pins|at once].
- delight
The {client} put it on, [looked into the pond|turned round twice|coughed|danced], and was
 [moved to tears|delighted].
"At last {garment.a} that understands me," said the {client}.
- ending
Soon everybody wanted {cloth.a} {garment} like that, and {hero} needed [more thread|a bigger shop|a nap|help].
The {client} wore the {cloth} {garment} [to bed|on Sundays|to every party|in the bath], and {hero} was famous.
""",
    """
the wish
water = pond | lake | well | fountain | river | canal
wish = red bicycle | rocking horse | straw hat | brass trumpet | wooden sledge | blue kite | green canoe
- opening
A star fell into the {water}, and {hero} wished for {wish.a}.
[One clear night|One winter night|At sunset|On Monday] {hero} saw a star fall into the {water} and wished
 for {wish.a}.
- secret, sometimes
{hero.They} told nobody but the {water} about the {wish}, as the rules require.
{hero.They} kept [both eyes shut|very still|one finger crossed|a straight face].
- morning
Next morning {friend} [came by|rang the bell|whistled at the gate|knocked] with {wish.a}, dripping wet.
In the morning {friend} was at the door, and [beside|behind] {friend.them} stood {wish.a}.
- story
"I fished it out of the {water}," said {friend}, "but it is [too small|too wet|not my colour|surely yours]."
{friend} had pulled the {wish} out of the {water} and did not know
 [why|whose it was|where to put it|what to say].
- ending
{hero} thanked {friend} first, and then the {water}.
{hero} tried the {wish} at once, and {friend} [cheered|clapped|sneezed|sang].
""",
)


@cache
def arcs() -> tuple[Arc, ...]:
    """All arcs, compiled; made once."""
    return tuple(read_arc(source, PEOPLE) for source in SOURCES)
